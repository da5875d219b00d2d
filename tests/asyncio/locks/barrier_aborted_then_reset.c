/*
 * A broken barrier is whole again after a reset, for which the tasks meet at a second
 * barrier, so that nobody is at the first.
 */
#include "locks.h"

static coil_barrier barrier = COIL_BARRIER_INIT(4), elsewhere = COIL_BARRIER_INIT(4);

static void break_or_find_it_broken(const char *name)
{
    if (coil_barrier_wait(&barrier) == 2)
        trace("%s breaks it: %s", name, outcome(coil_barrier_abort(&barrier)));
    else
        trace("%s: %s", name, outcome(coil_barrier_wait(&barrier)));
}

static int party(void *name)
{
    break_or_find_it_broken(name);
    if (coil_barrier_wait(&elsewhere) == 2)
        trace("%s resets it: %s", (char *)name, outcome(coil_barrier_reset(&barrier)));
    coil_barrier_wait(&elsewhere);
    trace("%s at the end: %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
    return 0;
}

SCENARIO(barrier_aborted_then_reset)
{
    int rc = gather_each(party, 4);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
