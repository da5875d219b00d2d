/* gather of all has cancelled futures among its results, and is not cancelled itself. */
#include "../scenario.h"

static coil_future *futures[6];

static int body(void *arg)
{
    int rcs[6], rc = coil_gather(futures, 6, COIL_GATHER_ALL, rcs);

    (void)arg;
    if (rc == 0)
        trace("gathered %s %s %s %s %s %s", outcome(rcs[0]), outcome(rcs[1]),
              outcome(rcs[2]), outcome(rcs[3]), outcome(rcs[4]), outcome(rcs[5]));
    return rc;
}

SCENARIO(gather_of_all_collects_cancellations)
{
    coil_task *task;

    for (int i = 0; i < 6; i++)
        futures[i] = new_future();
    task = start(body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(futures[0], 1, NULL, NULL);
    coil_future_set(futures[1], -EIO, NULL, NULL);
    coil_future_cancel(futures[2], NULL);
    turns(3);
    trace("task: %s", state(coil_task_future(task)));
    coil_future_set(futures[3], 3, NULL, NULL);
    coil_future_cancel(futures[4], NULL);
    coil_future_set(futures[5], -ENOENT, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
