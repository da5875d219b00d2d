/* gather of all waits for every one, and has failures among its results. */
#include "../scenario.h"

static coil_future *futures[4];

static int body(void *arg)
{
    int rcs[4], rc = coil_gather(futures, 4, COIL_GATHER_ALL, rcs);

    (void)arg;
    if (rc == 0)
        trace("gathered %s %s %s %s", outcome(rcs[0]), outcome(rcs[1]), outcome(rcs[2]),
              outcome(rcs[3]));
    return rc;
}

SCENARIO(gather_of_all_collects_failures)
{
    coil_task *task;

    for (int i = 0; i < 4; i++)
        futures[i] = new_future();
    task = start(body, NULL);
    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    coil_future_set(futures[1], 1, NULL, NULL);
    coil_future_set(futures[2], -EIO, NULL, NULL);
    coil_future_set(futures[0], 3, NULL, NULL);
    coil_sleep(COIL_SEC(1));
    trace("task: %s", state(coil_task_future(task)));
    coil_future_set(futures[3], -ENOENT, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
