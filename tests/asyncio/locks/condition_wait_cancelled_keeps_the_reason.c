/*
 * A task that is cancelled while it waits to be notified is told the reason that was
 * given.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int never(void *arg)
{
    (void)arg;
    return 0;
}

static int waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait_for(&changed, never, arg);
    trace("cancelled: %s, locked %d", coil_cancel_reason(), coil_lock_locked(&lock));
    coil_lock_release(&lock);
    return rc;
}

SCENARIO(condition_wait_cancelled_keeps_the_reason)
{
    coil_task *task = start(waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(task, "tired");
    trace("waiter: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
