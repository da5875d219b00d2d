/* A task that is cancelled in wait() leaves at once; those it waited for work on. */
#include "tasks.h"

static coil_future *tasks[2];

static int inner(void *future)
{
    return tell("inner", coil_await(future));
}

static int outer(void *arg)
{
    (void)arg;
    return tell("outer", coil_wait(tasks, 2, COIL_WAIT_ALL, COIL_NEVER));
}

SCENARIO(cancelled_wait_leaves_its_tasks_running)
{
    coil_future *future = new_future();
    coil_task *first = start(inner, future), *second = start(sleeper, SECONDS(3));
    coil_task *task = start(outer, NULL);

    if (task == NULL)
        return -ENOMEM;
    tasks[0] = coil_task_future(first);
    tasks[1] = coil_task_future(second);
    coil_sleep(COIL_SEC(1));
    coil_task_cancel(task, NULL);
    trace("outer task: %s", outcome(coil_task_await(task)));
    trace("tasks: %s %s", state(tasks[0]), state(tasks[1]));
    coil_future_set(future, 1, NULL, NULL);
    coil_wait(tasks, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("tasks: %s %s", state(tasks[0]), state(tasks[1]));
    return 0;
}
