/* gather of no futures at all is done already, and so is one of futures that are done. */
#include "../scenario.h"

SCENARIO(gather_of_nothing_takes_no_turn)
{
    coil_future *one = new_future(), *two = new_future();
    coil_future *same[] = {one, one}, *both[] = {one, two};
    coil_task *ticks = start(ticker, TURNS(2));

    if (ticks == NULL)
        return -ENOMEM;
    trace("nothing: %s", outcome(coil_gather(NULL, 0, 0, NULL)));
    trace("nothing, all: %s", outcome(coil_gather(NULL, 0, COIL_GATHER_ALL, NULL)));
    coil_future_set(one, 1, NULL, NULL);
    coil_future_set(two, -EIO, NULL, NULL);
    trace("done: %s", outcome(coil_gather(same, 2, 0, NULL)));
    trace("failed: %s", outcome(coil_gather(both, 2, 0, NULL)));
    trace("no turn has passed");
    return coil_task_await(ticks);
}
