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

    if (rc < 0)
        return rc;
    rc = coil_condition_wait(&changed);
    if (rc == 0) {
        trace("%s goes on: locked %d", (char *)name, coil_lock_locked(&lock));
        rc = coil_sleep(COIL_SEC(2));
    }
    coil_lock_release(&lock);
    trace("%s is done: locked %d", (char *)name, coil_lock_locked(&lock));
    return rc;
}

static void notify(int n)
{
    if (coil_lock_acquire(&lock) < 0)
        return;
    coil_condition_notify(&changed, (size_t)n);
    coil_sleep(COIL_SEC(1));
    trace("%d notified: locked %d", n, coil_lock_locked(&lock));
    coil_lock_release(&lock);
    coil_sleep(COIL_SEC(7));
}

SCENARIO(condition_waiters_go_on_one_lock_at_a_time)
{
    if (start(waiter, "a") == NULL || start(waiter, "b") == NULL ||
        start(waiter, "c") == NULL)
        return -ENOMEM;
    turns(1);
    trace("they wait: locked %d", coil_lock_locked(&lock));
    notify(1);
    notify(2);
    return 0;
}
