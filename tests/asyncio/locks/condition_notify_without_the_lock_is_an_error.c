/* Notifying while nobody holds the lock is an error, and wakes nobody. */
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
    if (rc == 0)
        trace("goes on");
    coil_lock_release(&lock);
    return rc;
}

static void notify(void)
{
    trace("notify: %s", outcome(coil_condition_notify(&changed, 1)));
}

SCENARIO(condition_notify_without_the_lock_is_an_error)
{
    coil_task *task;

    notify();
    task = start(waiter, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    notify();
    turns(2);
    trace("waiter: %s", state(coil_task_future(task)));
    coil_lock_acquire(&lock);
    notify();
    coil_lock_release(&lock);
    trace("waiter: %s", outcome(coil_task_await(task)));
    return 0;
}
