/* For wait() a cancelled task is a done one: it ends a wait for the first, not for a
 * failure. */
#include "tasks.h"

static const struct mode {
    const char *name;
    coil_wait_mode mode;
} modes[] = {{"first", COIL_WAIT_FIRST},
             {"failure", COIL_WAIT_FIRST_EXCEPTION},
             {"all", COIL_WAIT_ALL}};

static coil_future *tasks[2];

static int waiter(void *arg)
{
    const struct mode *mode = arg;

    trace("%s: %d done", mode->name, coil_wait(tasks, 2, mode->mode, COIL_NEVER));
    return 0;
}

SCENARIO(wait_counts_cancelled_tasks_as_done)
{
    coil_task *first = start(sleeper, SECONDS(3)), *second = start(sleeper, SECONDS(4));
    coil_future *waiters[3];

    if (second == NULL)
        return -ENOMEM;
    tasks[0] = coil_task_future(first);
    tasks[1] = coil_task_future(second);
    for (int i = 0; i < 3; i++) {
        coil_task *task = start(waiter, (void *)&modes[i]);

        if (task == NULL)
            return -ENOMEM;
        waiters[i] = coil_task_future(task);
    }
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(second, NULL));
    coil_wait(waiters, 3, COIL_WAIT_ALL, COIL_NEVER);
    trace("tasks: %s %s", state(tasks[0]), state(tasks[1]));
    return 0;
}
