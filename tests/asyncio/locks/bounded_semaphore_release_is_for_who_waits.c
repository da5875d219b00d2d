/*
 * A release of a bounded semaphore goes to who waits for it, and then the semaphore is as
 * taken as it was.
 */
#include "../scenario.h"

static coil_bounded_semaphore slots = COIL_BOUNDED_SEMAPHORE_INIT(1);

static int user(void *name)
{
    int rc = coil_bounded_semaphore_acquire(&slots);

    if (rc < 0)
        return rc;
    trace("%s is in", (char *)name);
    rc = coil_sleep(COIL_SEC(2));
    coil_bounded_semaphore_release(&slots);
    trace("%s is out: locked %d", (char *)name, coil_bounded_semaphore_locked(&slots));
    return rc;
}

SCENARIO(bounded_semaphore_release_is_for_who_waits)
{
    coil_task *a = start(user, "a"), *b = start(user, "b");

    if (a == NULL || b == NULL)
        return -ENOMEM;
    coil_bounded_semaphore_acquire(&slots);
    coil_sleep(COIL_SEC(1));
    coil_bounded_semaphore_release(&slots);
    trace("released: locked %d", coil_bounded_semaphore_locked(&slots));
    trace("a: %s", outcome(coil_task_await(a)));
    trace("b: %s", outcome(coil_task_await(b)));
    trace("locked %d", coil_bounded_semaphore_locked(&slots));
    return 0;
}
