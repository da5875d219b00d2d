/*
 * Who waits is cancelled after the task has ended and before it goes on: it is
 * cancelled, and the task done.
 */
#include "../scenario.h"

static int inner(void *arg)
{
    (void)arg;
    coil_yield();
    trace("inner ends");
    return 3;
}

static int wait_and_go_on(void *future)
{
    int rc = tell("wait_for", coil_wait_for(future, coil_in(COIL_SEC(100))));

    if (rc >= 0)
        trace("never printed");
    return rc < 0 ? rc : 0;
}

SCENARIO(wait_for_cancelled_as_the_task_ends_is_cancelled)
{
    coil_future *future = new_future();
    coil_task *task = start(inner, NULL), *waiter, *waiting;

    if (task == NULL)
        return -ENOMEM;
    waiter = start(wait_and_go_on, coil_task_future(task));
    waiting = start(wait_and_go_on, future);
    if (waiting == NULL)
        return -ENOMEM;
    turns(2);
    trace("task %s, waiter %s", state(coil_task_future(task)),
          state(coil_task_future(waiter)));
    trace("cancel: %d", coil_task_cancel(waiter, NULL));
    trace("cancel: %d", coil_task_cancel(waiting, NULL));
    tell("waiter", coil_task_await(waiter));
    tell("waiting", coil_task_await(waiting));
    trace("task: %s", state(coil_task_future(task)));
    return 0;
}
