/*
 * A task that is cancelled in the turn in which the barrier opens is cancelled; the
 * others pass, and the next round fills.
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

SCENARIO(barrier_waiter_cancelled_as_it_opens)
{
    coil_task *a = start(party, "a"), *b = start(party, "b");

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    trace("we pass: index %d", coil_barrier_wait(&barrier));
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, b %s, %zu wait", state(coil_task_future(a)), state(coil_task_future(b)),
          coil_barrier_waiting(&barrier));
    if (start(party, "c") == NULL || start(party, "d") == NULL ||
        start(party, "e") == NULL)
        return -ENOMEM;
    turns(2);
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
