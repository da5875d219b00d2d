/* Who awaits tasks that end because a future was cancelled learns why that was; by
 * gather, too. */
#include "../scenario.h"

static int awaiting(void *future)
{
    return tell("awaiting", coil_await(future));
}

static int gathering(void *arg)
{
    coil_future *future = arg;

    return tell("gathering", coil_gather(&future, 1, 0, NULL));
}

SCENARIO(cancel_reason_comes_up_from_the_future)
{
    static const coil_task_fn bodies[] = {awaiting, gathering};

    for (int i = 0; i < 2; i++) {
        coil_future *future = new_future();
        coil_task *inner = start(bodies[i], future), *task;

        task = inner != NULL ? start(awaiting, coil_task_future(inner)) : NULL;
        if (task == NULL)
            return -ENOMEM;
        turns(2);
        coil_future_cancel(future, "out of order");
        if (coil_task_await(task) == -ECANCELED)
            trace("because: %s", coil_future_cancel_reason(coil_task_future(task)));
        trace("counted: %d", coil_task_cancelling(task));
    }
    return 0;
}
