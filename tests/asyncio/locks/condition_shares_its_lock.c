/*
 * Two conditions on one lock: who holds the lock holds both, and a notification reaches
 * the waiters of its own condition only.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition full = COIL_CONDITION_INIT(&lock);
static coil_condition empty = COIL_CONDITION_INIT(&lock);

static void trace_locks(const char *name)
{
    trace("%slock %d, full %d, empty %d", name, coil_lock_locked(&lock),
          coil_lock_locked(full.lock), coil_lock_locked(empty.lock));
}

static int wait_for(const char *name, coil_condition *condition)
{
    int rc = coil_lock_acquire(condition->lock);

    if (rc < 0)
        return rc;
    trace_locks(name[0] == 'f' ? "f: " : "e: ");
    rc = coil_condition_wait(condition);
    if (rc == 0)
        trace("%s goes on", name);
    coil_lock_release(condition->lock);
    return rc;
}

static int waiter(void *name)
{
    return wait_for(name, *(char *)name == 'f' ? &full : &empty);
}

SCENARIO(condition_shares_its_lock)
{
    coil_task *f = start(waiter, "f"), *e = start(waiter, "e");

    if (f == NULL || e == NULL)
        return -ENOMEM;
    turns(1);
    trace_locks("");
    coil_lock_acquire(&lock);
    trace_locks("");
    coil_condition_notify_all(&empty);
    coil_lock_release(&lock);
    turns(2);
    trace("f %s, e %s", state(coil_task_future(f)), state(coil_task_future(e)));
    coil_lock_acquire(&lock);
    coil_condition_notify_all(&full);
    coil_lock_release(&lock);
    trace("f: %s", outcome(coil_task_await(f)));
    return 0;
}
