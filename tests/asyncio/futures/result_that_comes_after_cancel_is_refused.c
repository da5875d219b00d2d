/* A timer that is to set a future finds it cancelled, and leaves it so. */
#include "../scenario.h"

static void set(void *future)
{
    trace("timer sets: %s", outcome(coil_future_set(future, 2, NULL, NULL)));
}

static int body(void *future)
{
    return tell("task", coil_await(future));
}

SCENARIO(result_that_comes_after_cancel_is_refused)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL || coil_call_later(COIL_SEC(2), set, future, NULL) < 0)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    coil_sleep(COIL_SEC(2));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    return 0;
}
