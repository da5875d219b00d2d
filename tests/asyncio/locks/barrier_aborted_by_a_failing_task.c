/*
 * A task that fails between two rounds breaks the barrier, so that the others do not wait
 * for it in vain.
 */
#include "locks.h"

static coil_barrier barrier = COIL_BARRIER_INIT(4);

static int party(void *name)
{
    int index = coil_barrier_wait(&barrier);

    trace("%s: index %d", (char *)name, index);
    if (index != 2) {
        trace("%s again: %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
        return 0;
    }
    trace("%s fails", (char *)name);
    return coil_barrier_abort(&barrier);
}

SCENARIO(barrier_aborted_by_a_failing_task)
{
    int rc = gather_each(party, 4);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
