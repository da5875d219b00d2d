/* Two tasks await one future: cancelling either cancels the future, and with it the
 * other. */
#include "../scenario.h"

static coil_future *future;

static int waiter(void *name)
{
    int rc = tell(name, coil_await(future));

    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

SCENARIO(one_of_two_awaiters_is_cancelled)
{
    coil_task *first, *second;

    future = new_future();
    first = start(waiter, "waiter 0");
    second = start(waiter, "waiter 1");
    if (second == NULL)
        return -ENOMEM;
    coil_future *tasks[] = {coil_task_future(first), coil_task_future(second)};
    turns(2);
    trace("cancel: %d", coil_task_cancel(second, NULL));
    trace("future %s, tasks %s %s", state(future), state(tasks[0]), state(tasks[1]));
    trace("cancel the future: %d", coil_future_cancel(future, NULL));
    coil_wait(tasks, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("future %s, tasks %s %s", state(future), state(tasks[0]), state(tasks[1]));
    return 0;
}
