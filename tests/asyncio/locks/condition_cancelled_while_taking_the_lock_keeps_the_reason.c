/*
 * A task that is cancelled while it takes the lock back is told the reason, although what
 * it waited for has come true.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);
static bool ready;

static int is_ready(void *arg)
{
    (void)arg;
    return ready;
}

static int waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait_for(&changed, is_ready, arg);
    if (rc == -ECANCELED)
        trace("cancelled: %s, locked %d", coil_cancel_reason(), coil_lock_locked(&lock));
    coil_lock_release(&lock);
    return rc;
}

SCENARIO(condition_cancelled_while_taking_the_lock_keeps_the_reason)
{
    coil_task *task = start(waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    ready = true;
    coil_condition_notify(&changed, 1);
    turns(1);
    trace("it wants the lock");
    coil_task_cancel(task, "tired");
    coil_lock_release(&lock);
    trace("waiter: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
