/* At the deadline the task is cancelled; when it has ended there is a timeout. */
#include "../scenario.h"

static int sleeper(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    tell("sleep", rc == 0 ? 7 : rc);
    trace("ends");
    return rc == 0 ? 7 : rc;
}

SCENARIO(wait_for_cancels_a_task_at_the_deadline)
{
    coil_task *task = start(sleeper, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("wait_for", coil_wait_for(coil_task_future(task), coil_in(COIL_SEC(2))));
    trace("task: %s", state(coil_task_future(task)));
    trace("cancelling %d and %d", coil_task_cancelling(task),
          coil_task_cancelling(coil_task_current()));
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
