/*
 * A lock that is released right after its only waiter was cancelled goes to who comes in
 * the next turn.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static int taker(void *name)
{
    int rc = coil_lock_acquire(&lock);

    if (rc == 0)
        trace("%s has it", (char *)name);
    return rc;
}

SCENARIO(lock_is_not_lost_on_a_cancelled_waiter)
{
    coil_task *b = start(taker, "b"), *c;

    if (b == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    turns(1);
    c = start(taker, "c");
    if (c == NULL)
        return -ENOMEM;
    coil_task_cancel(b, NULL);
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    turns(1);
    trace("locked %d; b %s", coil_lock_locked(&lock), state(coil_task_future(b)));
    trace("c: %s", outcome(coil_task_await(c)));
    return 0;
}
