/*
 * Waiting for a condition whose lock nobody holds is an error, at once; who waits with
 * the lock is not disturbed by it.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int waiter(void *name)
{
    int rc = coil_condition_wait(&changed);

    if (rc == -EPERM)
        return rc;
    if (rc == 0)
        trace("%s goes on", (char *)name);
    coil_lock_release(&lock);
    return rc;
}

SCENARIO(condition_wait_without_the_lock_is_an_error)
{
    coil_task *b, *c;

    if (start(ticker, TURNS(6)) == NULL)
        return -ENOMEM;
    trace("nobody holds it: %s", outcome(waiter("a")));
    coil_lock_acquire(&lock);
    b = start(waiter, "b");
    turns(2);
    c = start(waiter, "c");
    turns(2);
    if (b == NULL || c == NULL)
        return -ENOMEM;
    trace("b %s, c %s", state(coil_task_future(b)), state(coil_task_future(c)));
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    coil_lock_release(&lock);
    turns(2);
    trace("b %s", state(coil_task_future(b)));
    return 0;
}
