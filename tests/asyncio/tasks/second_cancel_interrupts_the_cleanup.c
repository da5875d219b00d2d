/* Cleaning up may wait, once the cancellation is caught; a second request cuts that
 * short. */
#include "../scenario.h"

static int body(void *arg)
{
    int rc = tell("work", coil_sleep(COIL_SEC(10)));

    (void)arg;
    if (rc != -ECANCELED)
        return rc;
    coil_cancel_caught();
    rc = tell("cleanup", coil_sleep(COIL_SEC(3)));
    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc == -ECANCELED ? rc : -EIO;
}

SCENARIO(second_cancel_interrupts_the_cleanup)
{
    for (int cancels = 1; cancels <= 2; cancels++) {
        coil_task *task = start(body, NULL);

        if (task == NULL)
            return -ENOMEM;
        coil_sleep(COIL_SEC(1));
        for (int i = 0; i < cancels; i++) {
            trace("cancel: %d", coil_task_cancel(task, NULL));
            coil_sleep(COIL_SEC(1));
        }
        trace("awaited: %s", outcome(coil_task_await(task)));
    }
    return 0;
}
