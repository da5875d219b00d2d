/* A task that fails ends the gather, while its siblings run to their ends. */
#include "../scenario.h"

static coil_future *futures[4];

static int body(void *arg)
{
    static const int rcs[] = {0, 0, -EIO, 0, -ENOENT};
    int delay = (int)(intptr_t)arg, rc = coil_sleep(COIL_SEC(delay));

    trace("%d ends", delay);
    return rc < 0 ? rc : rcs[delay == 2 || delay == 4 ? delay : 0];
}

static void look(void)
{
    trace("tasks: %s %s %s %s", state(futures[0]), state(futures[1]), state(futures[2]),
          state(futures[3]));
}

SCENARIO(gather_lets_its_tasks_run_after_a_failure)
{
    static const int delays[] = {3, 1, 2, 4};

    for (int i = 0; i < 4; i++) {
        coil_task *task = start(body, (void *)(intptr_t)delays[i]);

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    trace("gather: %s", outcome(coil_gather(futures, 4, 0, NULL)));
    look();
    coil_sleep(COIL_SEC(3));
    look();
    trace("gather of all: %s", outcome(coil_gather(futures, 4, COIL_GATHER_ALL, NULL)));
    trace("gather: %s", outcome(coil_gather(futures, 4, 0, NULL)));
    return 0;
}
