/* Through a shield a result needs one turn more than by awaiting the future itself. */
#include "../scenario.h"

static int bare(void *future)
{
    return tell("bare", coil_await(future));
}

static int shielded(void *future)
{
    return tell("shielded", coil_shield(future));
}

SCENARIO(shield_hands_on_a_result)
{
    coil_future *future = new_future();
    coil_task *first = start(shielded, future), *second = start(bare, future), *ticks;

    if (second == NULL)
        return -ENOMEM;
    turns(1);
    ticks = start(ticker, TURNS(3));
    if (ticks == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 42, NULL, NULL);
    trace("set");
    coil_task_await(first);
    return coil_task_await(ticks);
}
