/* A barrier for one task lets it through without a turn of the loop. */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(1);

SCENARIO(barrier_of_one_does_not_wait)
{
    int index;

    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    index = coil_barrier_wait(&barrier);
    trace("index %d, %zu wait", index, coil_barrier_waiting(&barrier));
    trace("broken %d", coil_barrier_broken(&barrier));
    return 0;
}
