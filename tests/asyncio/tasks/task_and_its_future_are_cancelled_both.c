/* A task whose future was cancelled just now may be cancelled too: it is told once. */
#include "../scenario.h"

static int body(void *future)
{
    int rc = tell("told", coil_await(future));

    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

SCENARIO(task_and_its_future_are_cancelled_both)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel the future: %d", coil_future_cancel(future, NULL));
    trace("cancel the task: %d", coil_task_cancel(task, NULL));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
