/* A block that fails by itself fails with that, in time or late. */
#include "timeouts.h"

SCENARIO(timeout_lets_a_failure_pass)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    tell("in time", leave("timeout", &scope, -EIO));
    rc = enter(&scope, 1);
    if (rc < 0)
        return rc;
    rc = tell("sleep", coil_sleep(COIL_SEC(10)));
    tell("late", leave("timeout", &scope, rc < 0 ? -EPROTO : rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    tell("sleep", coil_sleep(COIL_SEC(10)));
    return 0;
}
