/* A task that stands twice in a gather is asked twice; it catches both requests at once.
 */
#include "../scenario.h"

static int child(void *arg)
{
    int rc;

    (void)arg;
    trace("child: %s", outcome(coil_sleep(COIL_SEC(10))));
    coil_cancel_caught();
    trace("counted %d", coil_task_cancelling(coil_task_current()));
    rc = tell("child again", coil_sleep(COIL_SEC(1)));
    return rc < 0 ? rc : 3;
}

static int body(void *task)
{
    coil_future *twice[] = {coil_task_future(task), coil_task_future(task)};

    return tell("gather", coil_gather(twice, 2, 0, NULL));
}

SCENARIO(gather_cancels_a_repeated_task_twice)
{
    coil_task *child_task = start(child, NULL), *task = start(body, child_task);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("child: %s", state(coil_task_future(child_task)));
    return 0;
}
