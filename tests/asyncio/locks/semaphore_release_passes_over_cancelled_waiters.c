/*
 * Where the first two in line are cancelled in the turn of the release, the third goes
 * on, and only the third.
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

SCENARIO(semaphore_release_passes_over_cancelled_waiters)
{
    coil_task *a = start(taker, "a"), *b = start(taker, "b"), *c = start(taker, "c"),
              *d = start(taker, "d");

    if (a == NULL || b == NULL || c == NULL || d == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    coil_task_cancel(b, NULL);
    coil_semaphore_release(&slots);
    trace("released");
    turns(2);
    trace("a %s, b %s, c %s, d %s", state(coil_task_future(a)),
          state(coil_task_future(b)), state(coil_task_future(c)),
          state(coil_task_future(d)));
    coil_task_cancel(d, NULL);
    turns(1);
    trace("d %s, locked %d", state(coil_task_future(d)), coil_semaphore_locked(&slots));
    return 0;
}
