/* A task that has caught its cancellation may await something else, which is not
 * cancelled. */
#include "../scenario.h"

static coil_future *futures[3];

static int body(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        trace("%d: %s", i, outcome(coil_await(futures[i])));
        coil_cancel_caught();
    }
    return 42;
}

SCENARIO(task_that_ignores_a_cancellation_waits_on)
{
    coil_task *task;

    for (int i = 0; i < 3; i++)
        futures[i] = new_future();
    task = start(body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(futures[0], 1, NULL, NULL);
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    turns(1);
    trace("task %s, counted %d", state(coil_task_future(task)),
          coil_task_cancelling(task));
    trace("set the cancelled one: %s",
          outcome(coil_future_set(futures[1], 2, NULL, NULL)));
    coil_future_set(futures[2], 3, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("futures: %s %s %s", state(futures[0]), state(futures[1]), state(futures[2]));
    return 0;
}
