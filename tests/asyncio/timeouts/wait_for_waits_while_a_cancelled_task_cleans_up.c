/*
 * A task that takes its time to end after it was cancelled is waited for, in time or
 * late.
 */
#include "../scenario.h"

static int slow(void *arg)
{
    int rc = tell("sleep", coil_sleep(COIL_SEC(10)));

    (void)arg;
    coil_cancel_caught();
    if (rc == -ECANCELED)
        tell("cleanup", coil_sleep(COIL_SEC(3)));
    return rc;
}

SCENARIO(wait_for_waits_while_a_cancelled_task_cleans_up)
{
    for (int delay = 2; delay >= 0; delay -= 2) {
        coil_task *task = start(slow, NULL);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        tell("wait_for", coil_wait_for(coil_task_future(task), coil_in(COIL_SEC(delay))));
        trace("task: %s", state(coil_task_future(task)));
    }
    return 0;
}
