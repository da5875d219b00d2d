/*
 * A task that is cancelled while it waits for a lock does not get it, and leaves the lock
 * as it was.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static int taker(void *arg)
{
    (void)arg;
    trace("wants it");
    return coil_lock_acquire(&lock);
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

SCENARIO(lock_acquire_cancelled_leaves_the_line)
{
    coil_task *task = start(taker, NULL);
    int rc;

    coil_lock_acquire(&lock);
    if (task == NULL)
        return -ENOMEM;
    rc = coil_call_soon(cancel, task, NULL);
    if (rc < 0)
        return rc;
    trace("taker: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    turns(1);
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
