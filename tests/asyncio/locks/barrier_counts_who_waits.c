/*
 * A barrier knows how many have come; when it opens nobody waits any more, although not
 * all have left yet.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(3);

static int party(void *arg)
{
    int index = coil_barrier_wait(&barrier);

    (void)arg;
    if (index >= 0)
        trace("index %d leaves: %zu wait", index, coil_barrier_waiting(&barrier));
    return index;
}

SCENARIO(barrier_counts_who_waits)
{
    coil_future *all[3];
    int rc;

    for (int i = 0; i < 3; i++) {
        coil_task *task = start(party, NULL);

        if (task == NULL)
            return -ENOMEM;
        all[i] = coil_task_future(task);
        turns(1);
        trace("%zu of %zu wait", coil_barrier_waiting(&barrier),
              coil_barrier_parties(&barrier));
    }
    rc = coil_wait(all, 3, COIL_WAIT_ALL, COIL_NEVER);
    if (rc < 0)
        return rc;
    trace("%s %s %s", state(all[0]), state(all[1]), state(all[2]));
    return 0;
}
