/*
 * Waiting for a predicate asks it at once and after each notification, and goes on with
 * its value when it holds.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);
static int level;

static int two_or_more(void *arg)
{
    (void)arg;
    trace("asked at level %d: locked %d", level, coil_lock_locked(&lock));
    return level >= 2 ? level : 0;
}

static int waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait_for(&changed, two_or_more, arg);
    coil_lock_release(&lock);
    if (rc < 0)
        return rc;
    trace("the predicate: %d", rc);
    return 0;
}

static void set_level(int value)
{
    level = value;
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    coil_lock_release(&lock);
    turns(1);
}

SCENARIO(condition_waits_until_the_predicate_holds)
{
    coil_task *task = start(waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    set_level(1);
    trace("waiter: %s", state(coil_task_future(task)));
    set_level(3);
    trace("waiter: %s", state(coil_task_future(task)));
    return 0;
}
