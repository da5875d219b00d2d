/* After its cancellation a task may look again at the future it awaited: cancelled, at
 * once. */
#include "../scenario.h"

static int body(void *arg)
{
    coil_future *future = arg;

    trace("first: %s", outcome(coil_await(future)));
    coil_cancel_caught();
    trace("again: %s", outcome(coil_await(future)));
    trace("shield: %s", outcome(coil_shield(future)));
    trace("gather: %s", outcome(coil_gather(&future, 1, 0, NULL)));
    trace("yield: %s", outcome(coil_yield()));
    return 1;
}

SCENARIO(cancelled_future_is_awaited_again_at_once)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future), *ticks;

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    ticks = start(ticker, TURNS(3));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return ticks != NULL ? coil_task_await(ticks) : -ENOMEM;
}
