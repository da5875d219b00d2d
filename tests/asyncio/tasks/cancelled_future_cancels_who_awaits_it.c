/* Who awaits a future that somebody cancels is cancelled by that, though nobody asked it
 * to. */
#include "../scenario.h"

static int body(void *future)
{
    int rc = tell("told", coil_await(future));

    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

SCENARIO(cancelled_future_cancels_who_awaits_it)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    return 0;
}
