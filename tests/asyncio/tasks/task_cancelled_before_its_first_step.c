/* A task that is cancelled before it ever ran does not run. */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    trace("never printed");
    return 0;
}

SCENARIO(task_cancelled_before_its_first_step)
{
    coil_task *task;
    int rc = coil_spawn(body, NULL, NULL, &task);

    if (rc < 0)
        return rc;
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("before: %s", state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    coil_task_release(task);
    return 0;
}
