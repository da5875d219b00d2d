/* Each request to cancel is counted, and the task is cancelled once. */
#include "../scenario.h"

static int body(void *arg)
{
    int rc = tell("told", coil_sleep(COIL_SEC(10)));

    (void)arg;
    trace("counted inside: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

SCENARIO(cancelling_counts_each_request)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("counted: %d", coil_task_cancelling(task));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("counted: %d", coil_task_cancelling(task));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("counted: %d", coil_task_cancelling(task));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("counted: %d", coil_task_cancelling(task));
    return 0;
}
