/* Waiters behind one that was cancelled and is gone go on in order. */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(0);

static int taker(void *name)
{
    int rc = coil_semaphore_acquire(&slots);

    if (rc == 0)
        trace("%s is in", (char *)name);
    return rc;
}

SCENARIO(semaphore_waiters_behind_a_cancelled_one_go_on)
{
    coil_task *a = start(taker, "a"), *b = start(taker, "b"), *c = start(taker, "c");
    coil_future *all[3];
    int rc;

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, locked %d", state(coil_task_future(a)), coil_semaphore_locked(&slots));
    coil_semaphore_release(&slots);
    coil_semaphore_release(&slots);
    all[0] = coil_task_future(a);
    all[1] = coil_task_future(b);
    all[2] = coil_task_future(c);
    rc = coil_gather(all, 3, COIL_GATHER_ALL, NULL);
    if (rc < 0)
        return rc;
    trace("a %s, b %s, c %s, locked %d", state(all[0]), state(all[1]), state(all[2]),
          coil_semaphore_locked(&slots));
    return 0;
}
