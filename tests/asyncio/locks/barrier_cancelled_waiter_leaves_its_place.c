/*
 * A task that is cancelled while it waits at a barrier no longer counts: one more must
 * come in its stead.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(3);

static int party(void *name)
{
    int index = coil_barrier_wait(&barrier);

    if (index < 0)
        return index;
    trace("%s passes: index %d", (char *)name, index);
    return 0;
}

SCENARIO(barrier_cancelled_waiter_leaves_its_place)
{
    coil_task *a = start(party, "a"), *b = start(party, "b"), *d;
    coil_future *both[2];
    int rc;

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    trace("%zu wait", coil_barrier_waiting(&barrier));
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, %zu wait", state(coil_task_future(a)), coil_barrier_waiting(&barrier));
    if (start(party, "c") == NULL)
        return -ENOMEM;
    turns(1);
    trace("%zu wait", coil_barrier_waiting(&barrier));
    d = start(party, "d");
    if (d == NULL)
        return -ENOMEM;
    both[0] = coil_task_future(b);
    both[1] = coil_task_future(d);
    rc = coil_gather(both, 2, 0, NULL);
    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
