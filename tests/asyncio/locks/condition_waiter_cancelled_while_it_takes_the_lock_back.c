/*
 * A notified waiter that is cancelled while it waits for the lock goes on, cancelled,
 * only when the lock is released.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("waits");
    rc = coil_condition_wait(&changed);
    if (rc == -ECANCELED)
        trace("cancelled: locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    return rc;
}

SCENARIO(condition_waiter_cancelled_while_it_takes_the_lock_back)
{
    coil_task *task = start(waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    turns(1);
    coil_task_cancel(task, NULL);
    turns(1);
    trace("cancelled, the lock is held: %s", state(coil_task_future(task)));
    coil_lock_release(&lock);
    turns(1);
    trace("released: %s, locked %d", state(coil_task_future(task)),
          coil_lock_locked(&lock));
    return 0;
}
