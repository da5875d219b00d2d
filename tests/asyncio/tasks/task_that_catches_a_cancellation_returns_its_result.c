/* A task that catches its cancellation and returns is done, not cancelled. */
#include "../scenario.h"

static coil_future *first, *second;

static int body(void *arg)
{
    (void)arg;
    trace("first: %s", outcome(coil_await(first)));
    trace("second: %s", outcome(coil_await(second)));
    return 42;
}

SCENARIO(task_that_catches_a_cancellation_returns_its_result)
{
    coil_task *task;

    first = new_future();
    second = new_future();
    task = start(body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(first, 1, NULL, NULL);
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("second is %s", state(second));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("cancelled: %d", coil_future_cancelled(coil_task_future(task)));
    return 0;
}
