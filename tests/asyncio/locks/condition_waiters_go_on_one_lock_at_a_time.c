/*
 * A waiter that was notified goes on when it has the lock; several of them one after the
 * other, in the order in which they came.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int waiter(void *name)
{
    int rc = coil_lock_acquire(&lock);

    if (rc == 0)
        rc = coil_condition_wait(&changed);
    if (rc == 0)
        trace("%s goes on: locked %d", (char *)name, coil_lock_locked(&lock));
    return rc;
}

static void release(void)
{
    coil_lock_release(&lock);
    turns(1);
    trace("locked %d", coil_lock_locked(&lock));
}

SCENARIO(condition_waiters_go_on_one_lock_at_a_time)
{
    if (start(waiter, "a") == NULL || start(waiter, "b") == NULL ||
        start(waiter, "c") == NULL)
        return -ENOMEM;
    turns(1);
    trace("they wait: locked %d", coil_lock_locked(&lock));
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    turns(1);
    trace("one notified: locked %d", coil_lock_locked(&lock));
    release();
    coil_condition_notify(&changed, 2);
    turns(1);
    trace("two notified: locked %d", coil_lock_locked(&lock));
    release();
    release();
    release();
    return 0;
}
