/*
 * Joining a queue of any kind waits until its items are not only taken but dealt with,
 * here by two workers.
 */
#include "queues.h"

static bool running;

static int worker(void *name)
{
    while (running) {
        int item = get(), rc;

        if (item < 0)
            return item;
        trace("%s begins %d", (char *)name, item);
        rc = coil_sleep(COIL_SEC(item));
        coil_queue_task_done(q);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int check(void)
{
    coil_group group;
    int rc = 0;

    running = true;
    coil_group_enter(&group);
    for (int i = 0; i < 4 && rc == 0; i++)
        rc = put_nowait((const int[]){2, 1, 3, 1}[i]);
    if (rc == 0)
        rc = coil_group_spawn(&group, worker, "a", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, worker, "b", NULL, NULL);
    if (rc == 0)
        rc = coil_queue_join(q);
    trace("all is done");
    running = false;
    put_nowait(1);
    put_nowait(1);
    return coil_group_exit(&group, rc);
}

SCENARIO(queue_join_waits_until_all_work_is_done)
{
    return each_kind(0, check);
}
