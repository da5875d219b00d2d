/*
 * A reset by the last that leaves breaks nobody who has come again: the next round is
 * another.
 */
#include "locks.h"

static coil_barrier barrier = COIL_BARRIER_INIT(4);

static int party(void *name)
{
    static int left;

    trace("%s: %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
    if (++left == 4) {
        coil_barrier_reset(&barrier);
        trace("%s has reset: %zu wait", (char *)name, coil_barrier_waiting(&barrier));
    }
    trace("%s: second %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
    trace("%s: third %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
    return 0;
}

SCENARIO(barrier_reset_by_the_last_to_leave)
{
    int rc = gather_each(party, 4);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
