/* A task behind a shield works on when its waiter is cancelled, and is not even told. */
#include "../scenario.h"

static int inner(void *future)
{
    tell("inner", coil_await(future));
    return coil_task_cancelling(coil_task_current());
}

static int outer(void *task)
{
    return tell("outer", coil_shield(coil_task_future(task)));
}

SCENARIO(shielded_task_outlives_its_waiter)
{
    coil_future *future = new_future();
    coil_task *inner_task = start(inner, future), *outer_task = start(outer, inner_task);

    if (outer_task == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(outer_task, NULL);
    trace("outer task: %s", outcome(coil_task_await(outer_task)));
    coil_future_set(future, 1, NULL, NULL);
    trace("inner task: %s", outcome(coil_task_await(inner_task)));
    return 0;
}
