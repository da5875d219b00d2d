/*
 * A task that does not listen when the deadline cancels it is waited for, and its
 * result taken: there is no timeout.
 */
#include "../scenario.h"

static int stubborn(void *arg)
{
    int rc = 0;

    (void)arg;
    while (coil_now() < COIL_SEC(4) && rc == 0) {
        rc = coil_sleep_until(COIL_SEC(4));
        if (rc == -ECANCELED) {
            coil_cancel_caught();
            trace("does not listen");
            rc = 0;
        }
    }
    trace("ends");
    return rc < 0 ? rc : 7;
}

SCENARIO(wait_for_takes_the_result_of_what_does_not_listen)
{
    coil_task *inner = start(stubborn, NULL);

    if (inner == NULL)
        return -ENOMEM;
    tell("wait_for", coil_wait_for(coil_task_future(inner), coil_in(COIL_SEC(2))));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return 0;
}
