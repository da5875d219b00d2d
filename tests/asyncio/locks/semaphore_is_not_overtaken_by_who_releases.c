/* A task that releases and acquires again at once goes behind those who wait already. */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(1);

static int once(void *name)
{
    int rc = coil_semaphore_acquire(&slots);

    if (rc == 0)
        trace("%s is in", (char *)name);
    return rc;
}

static int twice(void *name)
{
    int rc = once(name);

    if (rc < 0)
        return rc;
    coil_semaphore_release(&slots);
    return once("b again");
}

SCENARIO(semaphore_is_not_overtaken_by_who_releases)
{
    coil_task *a = start(once, "a"), *b = start(twice, "b"), *c = start(once, "c");
    coil_future *all[3];
    int rc;

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    coil_semaphore_release(&slots);
    coil_semaphore_release(&slots);
    trace("released twice");
    all[0] = coil_task_future(a);
    all[1] = coil_task_future(b);
    all[2] = coil_task_future(c);
    rc = coil_gather(all, 3, 0, NULL);
    if (rc < 0)
        return rc;
    trace("locked %d", coil_semaphore_locked(&slots));
    return 0;
}
