/*
 * Breaking a barrier while some of a round have not left and some have come again fails
 * them all.
 */
#include "locks.h"

static coil_barrier barrier = COIL_BARRIER_INIT(5);

static int party(void *name)
{
    static int left;
    int rc = coil_barrier_wait(&barrier);

    trace("%s: %s", (char *)name, outcome(rc));
    if (rc == -EPIPE)
        return 0;
    if (++left > 2) {
        coil_barrier_abort(&barrier);
        trace("%s has broken it", (char *)name);
    } else {
        trace("%s again: %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
    }
    return 0;
}

SCENARIO(barrier_abort_while_some_came_again)
{
    int rc = gather_each(party, 5);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
