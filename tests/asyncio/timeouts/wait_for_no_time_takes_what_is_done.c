/*
 * With no time at all a result that is there is taken, without a turn; a future that
 * is pending is cancelled.
 */
#include "../scenario.h"

SCENARIO(wait_for_no_time_takes_what_is_done)
{
    coil_future *futures[2];

    start(ticker, TURNS(4));
    futures[0] = new_future();
    futures[1] = new_future();
    if (futures[1] == NULL)
        return -ENOMEM;
    coil_future_set(futures[0], 5, NULL, NULL);
    for (int i = 0; i < 4; i++) {
        tell("wait_for", coil_wait_for(futures[i / 2], coil_in(-(i % 2))));
        trace("future: %s", state(futures[i / 2]));
    }
    return 0;
}
