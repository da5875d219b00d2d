/* A task that awaits the same future twice suspends for it once. */
#include "../scenario.h"

static int body(void *future)
{
    tell("first", coil_await(future));
    tell("second", coil_await(future));
    return 3;
}

SCENARIO(future_is_awaited_twice_and_waits_once)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future), *ticks = start(ticker, TURNS(4));

    if (ticks == NULL)
        return -ENOMEM;
    turns(2);
    coil_future_set(future, 42, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return coil_task_await(ticks);
}
