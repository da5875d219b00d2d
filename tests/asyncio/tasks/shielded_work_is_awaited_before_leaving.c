/* A task cancelled behind a shield may await the shielded work all the same, and then
 * leave. */
#include "../scenario.h"

static int work(void *arg)
{
    int rc = coil_sleep(COIL_SEC(3));

    (void)arg;
    trace("work is done");
    return rc < 0 ? rc : 5;
}

static int body(void *task)
{
    int rc = tell("shield", coil_shield(coil_task_future(task)));

    if (rc != -ECANCELED)
        return rc;
    coil_cancel_caught();
    tell("await", coil_task_await(task));
    return rc;
}

SCENARIO(shielded_work_is_awaited_before_leaving)
{
    coil_task *inner = start(work, NULL), *task = start(body, inner);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    coil_sleep(COIL_SEC(1));
    trace("task %s", state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
