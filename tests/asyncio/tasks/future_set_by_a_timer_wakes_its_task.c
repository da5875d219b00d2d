/* A timer sets the future that a task awaits, and the task goes on at that time. */
#include "../scenario.h"

static void set(void *future)
{
    coil_future_set(future, 1, NULL, NULL);
}

static int body(void *future)
{
    int rc = tell("future", coil_await(future));

    return rc < 0 ? rc : 7;
}

SCENARIO(future_set_by_a_timer_wakes_its_task)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL || coil_call_later(COIL_SEC(3), set, future, NULL) < 0)
        return -ENOMEM;
    coil_sleep(COIL_SEC(2));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
