/* Each round has its own indexes, by the order of coming in that round. */
#include "locks.h"

static coil_barrier barrier = COIL_BARRIER_INIT(4);

static int party(void *name)
{
    int first = coil_barrier_wait(&barrier), second;

    if (first < 0)
        return first;
    second = coil_barrier_wait(&barrier);
    if (second < 0)
        return second;
    trace("%s: %d then %d", (char *)name, first, second);
    return 0;
}

SCENARIO(barrier_gives_indexes_in_each_round)
{
    int rc = gather_each(party, 4);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
