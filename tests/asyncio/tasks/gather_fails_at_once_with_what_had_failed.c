/* Among futures still pending one that has failed already ends the gather before any
 * turn. */
#include "../scenario.h"

SCENARIO(gather_fails_at_once_with_what_had_failed)
{
    coil_future *first = new_future(), *failed = new_future(), *last = new_future();
    coil_future *futures[] = {first, failed, last}, *again[] = {first, last, failed};
    coil_task *ticks = start(ticker, TURNS(1));

    if (ticks == NULL)
        return -ENOMEM;
    coil_future_set(failed, -EIO, NULL, NULL);
    trace("gather: %s", outcome(coil_gather(futures, 3, 0, NULL)));
    trace("futures: %s %s %s", state(first), state(failed), state(last));
    coil_future_set(first, 1, NULL, NULL);
    coil_future_set(last, -ENOENT, NULL, NULL);
    trace("gather: %s", outcome(coil_gather(again, 3, 0, NULL)));
    return coil_task_await(ticks);
}
