/* Releasing a lock that nobody holds is an error, and changes nothing. */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static void try_to_release(const char *when)
{
    const char *rc = outcome(coil_lock_release(&lock));

    trace("%s: %s, locked %d", when, rc, coil_lock_locked(&lock));
}

SCENARIO(lock_released_twice_is_an_error)
{
    try_to_release("before");
    coil_lock_acquire(&lock);
    try_to_release("held");
    try_to_release("after");
    coil_lock_acquire(&lock);
    trace("again: locked %d", coil_lock_locked(&lock));
    return 0;
}
