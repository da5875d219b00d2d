/* gather of tasks takes as long as the longest; results stand in the order of the
 * arguments. */
#include "../scenario.h"

static int body(void *arg)
{
    int delay = (int)(intptr_t)arg, rc;

    trace("%d begins", delay);
    rc = coil_sleep(COIL_SEC(delay));
    trace("%d ends", delay);
    return rc < 0 ? rc : delay;
}

SCENARIO(gather_of_tasks_runs_them_side_by_side)
{
    static const int delays[] = {2, 3, 1};

    for (unsigned flags = 0; flags <= COIL_GATHER_ALL; flags++) {
        coil_future *futures[3];
        int rcs[3], rc;

        for (int i = 0; i < 3; i++) {
            coil_task *task = start(body, (void *)(intptr_t)delays[i]);

            if (task == NULL)
                return -ENOMEM;
            futures[i] = coil_task_future(task);
        }
        rc = coil_gather(futures, 3, flags, rcs);
        if (rc < 0)
            return rc;
        trace("gathered %d %d %d", rcs[0], rcs[1], rcs[2]);
    }
    return 0;
}
