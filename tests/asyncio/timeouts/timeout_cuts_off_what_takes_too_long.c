/*
 * What waits when the deadline passes is cancelled, and the block times out; no
 * request is left.
 */
#include "timeouts.h"

SCENARIO(timeout_cuts_off_what_takes_too_long)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    rc = leave("timeout", &scope, tell("sleep", coil_sleep(COIL_SEC(10))));
    trace("body: %s", outcome(rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
