/*
 * A waiter that is notified, then cancelled while it stands in line for the lock, still
 * has the lock when it goes on.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int waiter(void *arg)
{
    int rc = coil_condition_wait(&changed);

    (void)arg;
    trace("%s: locked %d", rc == 0 ? "goes on" : "cancelled", coil_lock_locked(&lock));
    return rc;
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

static void release(void *arg)
{
    coil_lock_release(arg);
}

SCENARIO(condition_waiter_cancelled_while_the_lock_is_contested)
{
    coil_task *task = start(waiter, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    turns(1);
    trace("it waits: locked %d", coil_lock_locked(&lock));
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    rc = coil_call_soon(cancel, task, NULL);
    if (rc == 0)
        rc = coil_call_soon(release, &lock, NULL);
    if (rc < 0) {
        coil_lock_release(&lock);
        return rc;
    }
    trace("waiter: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
