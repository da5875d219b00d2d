/*
 * A wait that is cancelled, and cancelled again while it takes the lock back, still ends
 * with the lock, and is cancelled once.
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
    rc = coil_condition_wait(&changed);
    if (rc == -ECANCELED) {
        trace("cancelled: locked %d", coil_lock_locked(&lock));
        coil_cancel_caught();
    }
    rc = coil_sleep(COIL_SEC(1));
    if (rc == 0)
        trace("slept");
    coil_lock_release(&lock);
    return rc < 0 ? rc : coil_task_cancelling(coil_task_current());
}

SCENARIO(condition_wait_cancelled_again_and_again_has_the_lock)
{
    coil_task *task = start(waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(2);
    coil_lock_acquire(&lock);
    for (int i = 0; i < 3; i++) {
        coil_task_cancel(task, NULL);
        turns(1);
        trace("the lock is held: %s", state(coil_task_future(task)));
    }
    coil_lock_release(&lock);
    trace("requests: %s", outcome(coil_task_await(task)));
    return 0;
}
