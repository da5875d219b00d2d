/* A failure goes through a shield to who waits behind it, and leaves the others alone. */
#include "../scenario.h"

static coil_future *future;

static int body(void *arg)
{
    int i = (int)(intptr_t)arg, rc = coil_shield(future);

    if (rc >= 0)
        return 0;
    trace("%d: %s", i, outcome(rc));
    return i;
}

SCENARIO(shield_hands_on_a_failure)
{
    coil_future *tasks[2];

    future = new_future();
    for (int i = 0; i < 2; i++) {
        coil_task *task = start(body, (void *)(intptr_t)(i + 1));

        if (task == NULL)
            return -ENOMEM;
        tasks[i] = coil_task_future(task);
    }
    coil_sleep(COIL_SEC(1));
    coil_future_set(future, -EIO, NULL, NULL);
    coil_wait(tasks, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("future %s, tasks %s %s", state(future), state(tasks[0]), state(tasks[1]));
    return 0;
}
