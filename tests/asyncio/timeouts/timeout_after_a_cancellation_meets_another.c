/*
 * A task that has caught a cancellation is cancelled once more in a block with a
 * deadline: that is no timeout.
 */
#include "timeouts.h"

SCENARIO(timeout_after_a_cancellation_meets_another)
{
    coil_scope scope;
    int rc;

    coil_task_cancel(coil_task_current(), NULL);
    tell("work", coil_sleep(COIL_SEC(1)));
    coil_cancel_caught();
    rc = enter(&scope, 1);
    if (rc < 0)
        return rc;
    coil_task_cancel(coil_task_current(), NULL);
    rc = leave("timeout", &scope, tell("cleanup", coil_sleep(COIL_SEC(10))));
    trace("caught %s", outcome(rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return 0;
}
