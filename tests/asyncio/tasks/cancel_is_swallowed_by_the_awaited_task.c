/* A task hands its cancellation to the one it awaits; if that ignores it, nobody is
 * cancelled. */
#include "../scenario.h"

static int deaf(void *arg)
{
    int rc;

    (void)arg;
    trace("deaf: %s", outcome(coil_sleep(COIL_SEC(10))));
    coil_cancel_caught();
    rc = coil_sleep(COIL_SEC(2));
    return rc < 0 ? rc : 5;
}

static int body(void *task)
{
    int rc = tell("awaited", coil_task_await(task));

    if (rc < 0)
        return rc;
    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return tell("waits on", coil_sleep(COIL_SEC(1)));
}

SCENARIO(cancel_is_swallowed_by_the_awaited_task)
{
    coil_task *inner = start(deaf, NULL), *task = start(body, inner);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("task: %s", outcome(coil_task_await(task)));
    trace("counted: %d %d", coil_task_cancelling(task), coil_task_cancelling(inner));
    return 0;
}
