/* A task that gathers two futures, behind a shield, gets both though its waiter is
 * cancelled. */
#include "../scenario.h"

static coil_future *futures[2];

static int gatherer(void *arg)
{
    int rcs[2], rc = coil_gather(futures, 2, 0, rcs);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("gathered %d and %d", rcs[0], rcs[1]);
    return 0;
}

static int outer(void *task)
{
    return tell("outer", coil_shield(coil_task_future(task)));
}

SCENARIO(shielded_gather_outlives_its_waiter)
{
    coil_task *inner, *waiter;

    futures[0] = new_future();
    futures[1] = new_future();
    inner = start(gatherer, NULL);
    waiter = start(outer, inner);
    if (waiter == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(waiter, NULL);
    turns(1);
    trace("waiter %s, futures %s %s", state(coil_task_future(waiter)), state(futures[0]),
          state(futures[1]));
    coil_future_set(futures[0], 1, NULL, NULL);
    coil_future_set(futures[1], 2, NULL, NULL);
    trace("inner: %s", outcome(coil_task_await(inner)));
    return 0;
}
