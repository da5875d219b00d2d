/*
 * A notification is not lost where the one who was notified is cancelled while it takes
 * the lock back.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);
static int items;

static int are(void *wanted)
{
    return (items > 0) == *(bool *)wanted;
}

static int consumer(void *name)
{
    bool some = true;
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait_for(&changed, are, &some);
    if (rc > 0) {
        items--;
        trace("%s takes it", (char *)name);
        coil_condition_notify_all(&changed);
    }
    coil_lock_release(&lock);
    return rc < 0 ? rc : 0;
}

SCENARIO(condition_wakeup_is_passed_on_by_who_is_cancelled_at_the_lock)
{
    coil_task *a = start(consumer, "a"), *b = start(consumer, "b");
    coil_scope scope;
    bool some = false;
    int rc;

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    items = 1;
    coil_condition_notify(&changed, 1);
    turns(1);
    coil_task_cancel(a, NULL);
    trace("one item, a %s", state(coil_task_future(a)));
    rc = coil_scope_enter(&scope, coil_in(COIL_SEC(5)));
    if (rc == 0)
        rc = coil_scope_exit(&scope, coil_condition_wait_for(&changed, are, &some));
    coil_lock_release(&lock);
    if (rc < 0)
        return rc;
    trace("taken");
    trace("a: %s", outcome(coil_task_await(a)));
    trace("b: %s", outcome(coil_task_await(b)));
    return 0;
}
