/*
 * A semaphore of three admits three; who comes after that goes on in the order of coming,
 * one for each release, and who comes late stands behind them.
 */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(3);

static int taker(void *name)
{
    int rc = coil_semaphore_acquire(&slots);

    if (rc == 0)
        trace("%s is in", (char *)name);
    return rc;
}

SCENARIO(semaphore_admits_so_many_in_order)
{
    coil_semaphore_acquire(&slots);
    coil_semaphore_acquire(&slots);
    trace("two are in: locked %d", coil_semaphore_locked(&slots));
    if (start(taker, "a") == NULL || start(taker, "b") == NULL ||
        start(taker, "c") == NULL)
        return -ENOMEM;
    turns(1);
    trace("locked %d", coil_semaphore_locked(&slots));
    if (start(taker, "d") == NULL)
        return -ENOMEM;
    coil_semaphore_release(&slots);
    coil_semaphore_release(&slots);
    turns(1);
    trace("two released: locked %d", coil_semaphore_locked(&slots));
    coil_semaphore_release(&slots);
    turns(1);
    trace("three released: locked %d", coil_semaphore_locked(&slots));
    return 0;
}
