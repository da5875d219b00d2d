/* Cancelling a task cancels the future it waits for at once, and the task one turn later.
 */
#include "../scenario.h"

static int body(void *future)
{
    return tell("told", coil_await(future));
}

SCENARIO(cancelled_task_cancels_the_future_it_awaits)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    turns(1);
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
