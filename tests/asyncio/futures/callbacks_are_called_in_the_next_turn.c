/* Setting a result calls no callback; all are called in the next turn, in their order. */
#include "futures.h"

static void say(coil_future *future, void *i)
{
    trace("callback %d: %s", (int)(intptr_t)i, state(future));
}

SCENARIO(callbacks_are_called_in_the_next_turn)
{
    coil_future *future = new_future();
    coil_task *ticks = start(ticker, TURNS(2));

    if (ticks == NULL || add_each(future, say, 3) < 0)
        return -ENOMEM;
    coil_future_set(future, 17, NULL, NULL);
    trace("set");
    turns(1);
    trace("one turn later");
    return coil_task_await(ticks);
}
