/* A wait that is cancelled returns with the lock held all the same. */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int waiter(void *arg)
{
    int rc;

    (void)arg;
    trace("waits: locked %d", coil_lock_locked(&lock));
    rc = coil_condition_wait(&changed);
    if (rc == -ECANCELED)
        trace("cancelled: locked %d", coil_lock_locked(&lock));
    return rc;
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

SCENARIO(condition_wait_cancelled_has_the_lock)
{
    coil_task *task = start(waiter, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    rc = coil_call_soon(cancel, task, NULL);
    if (rc < 0)
        return rc;
    trace("waiter: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
