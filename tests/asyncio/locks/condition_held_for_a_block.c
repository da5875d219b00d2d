/*
 * A block under a condition's lock: it is held inside, given up during the wait, and free
 * after it.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int block(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("inside: locked %d", coil_lock_locked(&lock));
    rc = coil_condition_wait(&changed);
    trace("woken: locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    trace("after: locked %d", coil_lock_locked(&lock));
    return rc;
}

SCENARIO(condition_held_for_a_block)
{
    coil_task *task;
    int rc;

    trace("locked %d", coil_lock_locked(&lock));
    task = start(block, NULL);
    if (task == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(1));
    if (rc < 0)
        return rc;
    trace("it waits: locked %d", coil_lock_locked(&lock));
    coil_lock_acquire(&lock);
    trace("ours: locked %d", coil_lock_locked(&lock));
    coil_condition_notify(&changed, 1);
    coil_lock_release(&lock);
    trace("released: locked %d", coil_lock_locked(&lock));
    trace("block: %s", outcome(coil_task_await(task)));
    return 0;
}
