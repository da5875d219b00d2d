/*
 * A waiter that is cancelled in the turn in which the lock was released to it passes it
 * on.
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

SCENARIO(lock_woken_waiter_cancelled_wakes_the_next)
{
    coil_task *b = start(taker, "b"), *c = start(taker, "c");

    if (b == NULL || c == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    turns(1);
    coil_lock_release(&lock);
    coil_task_cancel(b, NULL);
    for (int i = 0; i < 2; i++) {
        turns(1);
        trace("b %s, c %s, locked %d", state(coil_task_future(b)),
              state(coil_task_future(c)), coil_lock_locked(&lock));
    }
    return 0;
}
