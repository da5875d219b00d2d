/*
 * After three releases at once the first in line wakes the two behind it, all before
 * anything that begins later.
 */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(0);

static int late(void *name)
{
    trace("%s begins", (char *)name);
    return 0;
}

static int take(void *name)
{
    int rc = coil_semaphore_acquire(&slots);

    if (rc == 0 && *(char *)name == 'a' && start(late, "d") == NULL)
        return -ENOMEM;
    if (rc == 0)
        trace("%s is in: locked %d", (char *)name, coil_semaphore_locked(&slots));
    return rc;
}

static int release_and_take(void *name)
{
    for (int i = 0; i < 3; i++)
        coil_semaphore_release(&slots);
    trace("b released three: locked %d", coil_semaphore_locked(&slots));
    return take(name);
}

SCENARIO(semaphore_waiter_wakes_as_many_as_the_value_allows)
{
    coil_task *a = start(take, "a"), *b = start(release_and_take, "b"),
              *c = start(take, "c");
    coil_future *all[3];
    int rc;

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    trace("locked %d", coil_semaphore_locked(&slots));
    all[0] = coil_task_future(a);
    all[1] = coil_task_future(b);
    all[2] = coil_task_future(c);
    rc = coil_gather(all, 3, 0, NULL);
    if (rc < 0)
        return rc;
    trace("locked %d", coil_semaphore_locked(&slots));
    return 0;
}
