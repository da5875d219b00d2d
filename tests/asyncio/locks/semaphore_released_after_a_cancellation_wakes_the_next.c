/*
 * A release right after the first in line was cancelled is not lost on it: the next goes
 * on.
 */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(0);

static int taker(void *name)
{
    int rc = coil_semaphore_acquire(&slots);

    if (rc == 0)
        trace("%s is in", (char *)name);
    return rc;
}

SCENARIO(semaphore_released_after_a_cancellation_wakes_the_next)
{
    coil_task *a = start(taker, "a"), *b = start(taker, "b");

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    coil_semaphore_release(&slots);
    trace("locked %d", coil_semaphore_locked(&slots));
    for (int i = 0; i < 2; i++) {
        turns(1);
        trace("a %s, b %s, locked %d", state(coil_task_future(a)),
              state(coil_task_future(b)), coil_semaphore_locked(&slots));
    }
    return 0;
}
