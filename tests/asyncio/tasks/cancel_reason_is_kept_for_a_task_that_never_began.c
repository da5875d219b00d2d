/* A task that is cancelled before its first step has the reason all the same. */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    trace("never printed");
    return 0;
}

SCENARIO(cancel_reason_is_kept_for_a_task_that_never_began)
{
    coil_task *task = start(body, NULL);
    coil_future *future;
    int rc;

    if (task == NULL)
        return -ENOMEM;
    future = coil_task_future(task);
    coil_task_cancel(task, "not needed");
    rc = coil_wait(&future, 1, COIL_WAIT_ALL, COIL_NEVER);
    trace("awaited: %s", outcome(rc < 0 ? rc : 0));
    trace("state: %s", state(future));
    trace("reason: %s", coil_future_cancel_reason(future));
    return 0;
}
