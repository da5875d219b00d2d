/* A shield around a future that is done is that future: nothing else runs meanwhile. */
#include "../scenario.h"

SCENARIO(shield_of_what_is_done_takes_no_turn)
{
    coil_future *future = new_future(), *failed = new_future();
    coil_task *ticks = start(ticker, TURNS(1));

    if (ticks == NULL)
        return -ENOMEM;
    coil_future_set(future, 42, NULL, NULL);
    trace("shield: %s", outcome(coil_shield(future)));
    trace("no turn has passed");
    coil_future_set(failed, -EIO, NULL, NULL);
    trace("shield: %s", outcome(coil_shield(failed)));
    return coil_task_await(ticks);
}
