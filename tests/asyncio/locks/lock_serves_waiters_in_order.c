/*
 * A lock that is released goes to who waited longest, in the next turn, and to nobody
 * before it is released again.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static int taker(void *name)
{
    int rc = coil_lock_acquire(&lock);

    if (rc == 0)
        trace("%s has it", (char *)name);
    return rc;
}

SCENARIO(lock_serves_waiters_in_order)
{
    coil_lock_acquire(&lock);
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    trace("they wait");
    coil_lock_release(&lock);
    trace("released: locked %d", coil_lock_locked(&lock));
    turns(1);
    trace("locked %d", coil_lock_locked(&lock));
    turns(1);
    if (start(taker, "c") == NULL)
        return -ENOMEM;
    coil_lock_release(&lock);
    turns(1);
    coil_lock_release(&lock);
    trace("released again");
    turns(1);
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
