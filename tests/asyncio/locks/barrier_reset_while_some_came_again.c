/*
 * A reset while some of a round have not left and some have come again breaks the former;
 * the latter wait on, and all meet in the next round.
 */
#include "locks.h"

static coil_barrier barrier = COIL_BARRIER_INIT(5);

static int again(const char *name)
{
    trace("%s again: %s", name, outcome(coil_barrier_wait(&barrier)));
    return 0;
}

static int party(void *name)
{
    static int left;
    int rc = coil_barrier_wait(&barrier);

    trace("%s: %s", (char *)name, outcome(rc));
    if (rc != -EPIPE && ++left > 2) {
        coil_barrier_reset(&barrier);
        trace("%s has reset", (char *)name);
    }
    return again(name);
}

SCENARIO(barrier_reset_while_some_came_again)
{
    int rc = gather_each(party, 5);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
