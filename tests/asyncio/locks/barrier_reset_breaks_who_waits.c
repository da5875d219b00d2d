/*
 * A reset sends the tasks away that wait at a barrier; the barrier itself is not broken.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(4);

static int party(void *name)
{
    trace("%s: %s", (char *)name, outcome(coil_barrier_wait(&barrier)));
    return 0;
}

static int resetter(void *arg)
{
    (void)arg;
    trace("resets while %zu wait", coil_barrier_waiting(&barrier));
    coil_barrier_reset(&barrier);
    trace("has reset: %zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}

SCENARIO(barrier_reset_breaks_who_waits)
{
    static const char *const names[] = {"a", "b", "c"};
    coil_future *all[3];
    int rc;

    for (int i = 0; i < 3; i++) {
        coil_task *task = start(party, (void *)names[i]);

        if (task == NULL)
            return -ENOMEM;
        all[i] = coil_task_future(task);
    }
    turns(1);
    if (start(resetter, NULL) == NULL)
        return -ENOMEM;
    rc = coil_gather(all, 3, 0, NULL);
    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return 0;
}
