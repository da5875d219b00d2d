/* Cancelled, gather returns with the first child that ends; gather of all, with the last.
 */
#include "../scenario.h"

static coil_future *futures[2];

static int slow(void *arg)
{
    int i = (int)(intptr_t)arg, rc = coil_sleep(COIL_SEC(10));

    if (rc != -ECANCELED)
        return rc;
    coil_cancel_caught();
    trace("child %d cleans up", i);
    coil_sleep(COIL_SEC(i));
    trace("child %d ends", i);
    return rc;
}

static int body(void *flags)
{
    return tell("gather", coil_gather(futures, 2, (unsigned)(uintptr_t)flags, NULL));
}

SCENARIO(cancelled_gather_of_all_waits_for_the_cleanup)
{
    for (uintptr_t flags = 0; flags <= COIL_GATHER_ALL; flags++) {
        coil_task *task;

        for (int i = 0; i < 2; i++) {
            task = start(slow, (void *)(intptr_t)(2 - i));
            if (task == NULL)
                return -ENOMEM;
            futures[i] = coil_task_future(task);
        }
        task = start(body, (void *)flags);
        if (task == NULL)
            return -ENOMEM;
        turns(1);
        coil_task_cancel(task, NULL);
        trace("awaited: %s", outcome(coil_task_await(task)));
        coil_sleep(COIL_SEC(3));
    }
    return 0;
}
