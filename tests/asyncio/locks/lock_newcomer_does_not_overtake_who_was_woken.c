/*
 * Between a release and the woken waiter's going on the lock is free, but a newcomer
 * stands in line all the same.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static int taker(void *name)
{
    int rc;

    trace("%s wants it: locked %d", (char *)name, coil_lock_locked(&lock));
    rc = coil_lock_acquire(&lock);
    if (rc < 0)
        return rc;
    trace("%s has it", (char *)name);
    coil_lock_release(&lock);
    return 0;
}

SCENARIO(lock_newcomer_does_not_overtake_who_was_woken)
{
    coil_lock_acquire(&lock);
    if (start(taker, "a") == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_release(&lock);
    taker("newcomer");
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
