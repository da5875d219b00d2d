/* Cancelling oneself takes effect at the next wait, which ends at once. */
#include "../scenario.h"

static int body(void *arg)
{
    coil_task *task = coil_task_current();
    int rc;

    (void)arg;
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("still runs, counted %d", coil_task_cancelling(task));
    rc = tell("slept", coil_sleep(COIL_SEC(100)));
    return rc < 0 ? rc : 12;
}

SCENARIO(task_that_cancels_itself_is_told_at_its_next_wait)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    return 0;
}
