/* A shield does not hold off the cancellation of the future behind it. */
#include "../scenario.h"

static int body(void *future)
{
    return tell("told", coil_shield(future));
}

SCENARIO(shield_ends_with_its_future_that_is_cancelled)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_future_cancel(future, NULL));
    turns(1);
    trace("task %s", state(coil_task_future(task)));
    rc = coil_task_await(task);
    trace("awaited: %s, counted %d", outcome(rc), coil_task_cancelling(task));
    return 0;
}
