/*
 * A callback that cancels the first waiter and releases the lock lets exactly one other
 * have it.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static int taker(void *name)
{
    int rc;

    trace("%s wants it", (char *)name);
    rc = coil_lock_acquire(&lock);
    if (rc == 0)
        trace("%s has it", (char *)name);
    return rc;
}

static void trigger(void *a)
{
    coil_task_cancel(a, NULL);
    coil_lock_release(&lock);
}

SCENARIO(lock_cancelled_and_released_in_one_turn_goes_to_one)
{
    coil_task *a = start(taker, "a"), *b = start(taker, "b"), *c = start(taker, "c");
    int rc;

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    turns(1);
    rc = coil_call_soon(trigger, a, NULL);
    if (rc < 0)
        return rc;
    trace("a: %s", outcome(coil_task_await(a)));
    trace("b %s, c %s", state(coil_task_future(b)), state(coil_task_future(c)));
    coil_task_cancel(c, NULL);
    turns(1);
    trace("b %s, c %s", state(coil_task_future(b)), state(coil_task_future(c)));
    return 0;
}
