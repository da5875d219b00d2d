/*
 * A lock for which nobody waits is free at once when it is released, and is taken without
 * waiting.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

SCENARIO(lock_released_without_waiters_is_free)
{
    if (start(ticker, TURNS(3)) == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    coil_lock_acquire(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    turns(1);
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    turns(1);
    return 0;
}
