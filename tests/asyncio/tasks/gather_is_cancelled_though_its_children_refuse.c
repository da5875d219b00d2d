/* All children ignore the cancellation and have results: the gather was cancelled all the
 * same. */
#include "../scenario.h"

static coil_future *futures[2];

static int deaf(void *arg)
{
    int i = (int)(intptr_t)arg, rc;

    trace("deaf %d: %s", i, outcome(coil_sleep(COIL_SEC(10))));
    coil_cancel_caught();
    rc = coil_sleep(COIL_SEC(i));
    return rc < 0 ? rc : i;
}

static int body(void *flags)
{
    int rc = coil_gather(futures, 2, (unsigned)(uintptr_t)flags, NULL);

    tell("gather", rc);
    trace("children: %s %s", state(futures[0]), state(futures[1]));
    return rc;
}

SCENARIO(gather_is_cancelled_though_its_children_refuse)
{
    for (uintptr_t flags = 0; flags <= COIL_GATHER_ALL; flags++) {
        coil_task *task;

        for (int i = 0; i < 2; i++) {
            task = start(deaf, (void *)(intptr_t)(i + 1));
            if (task == NULL)
                return -ENOMEM;
            futures[i] = coil_task_future(task);
        }
        task = start(body, (void *)flags);
        if (task == NULL)
            return -ENOMEM;
        coil_sleep(COIL_SEC(1));
        trace("cancel: %d", coil_task_cancel(task, NULL));
        trace("awaited: %s", outcome(coil_task_await(task)));
    }
    return 0;
}
