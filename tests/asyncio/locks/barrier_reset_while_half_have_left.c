/* A reset by the third of five to leave breaks those who have not left yet. */
#include "locks.h"

static coil_barrier barrier = COIL_BARRIER_INIT(5);

static int party(void *name)
{
    static int left;
    int rc = coil_barrier_wait(&barrier);

    trace("%s: %s, %zu wait", (char *)name, outcome(rc), coil_barrier_waiting(&barrier));
    left += rc != -EPIPE;
    if (left == 3 && rc != -EPIPE) {
        coil_barrier_reset(&barrier);
        trace("%s has reset: %zu wait", (char *)name, coil_barrier_waiting(&barrier));
    }
    return 0;
}

SCENARIO(barrier_reset_while_half_have_left)
{
    int rc = gather_each(party, 5);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
