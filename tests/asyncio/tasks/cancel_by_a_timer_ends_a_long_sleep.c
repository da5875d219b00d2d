/* A timer cancels a task that sleeps for long; who awaits it goes on at that time. */
#include "tasks.h"

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

SCENARIO(cancel_by_a_timer_ends_a_long_sleep)
{
    coil_task *task = start(sleeper, SECONDS(5000));
    int rc;

    if (task == NULL || coil_call_later(COIL_SEC(1), cancel, task, NULL) < 0)
        return -ENOMEM;
    rc = coil_task_await(task);
    trace("awaited: %s, counted %d", outcome(rc),
          coil_task_cancelling(coil_task_current()));
    coil_sleep(COIL_SEC(1));
    trace("goes on");
    return 0;
}
