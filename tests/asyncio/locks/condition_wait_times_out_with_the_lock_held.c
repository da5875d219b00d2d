/*
 * A deadline that passes while a task waits for a condition ends the wait, with the lock
 * held.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int wait_two_seconds(void)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_condition_wait(&changed));
}

SCENARIO(condition_wait_times_out_with_the_lock_held)
{
    coil_lock_acquire(&lock);
    trace("waits: locked %d", coil_lock_locked(&lock));
    trace("wait: %s", outcome(wait_two_seconds()));
    trace("locked %d", coil_lock_locked(&lock));
    trace("wait: %s", outcome(wait_two_seconds()));
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
