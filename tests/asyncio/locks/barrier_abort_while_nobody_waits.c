/* A barrier that was broken while nobody waited fails at once whoever comes. */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(1);

SCENARIO(barrier_abort_while_nobody_waits)
{
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    trace("abort: %s", outcome(coil_barrier_abort(&barrier)));
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    trace("we: %s", outcome(coil_barrier_wait(&barrier)));
    trace("abort again: %s", outcome(coil_barrier_abort(&barrier)));
    trace("we: %s", outcome(coil_barrier_wait(&barrier)));
    return 0;
}
