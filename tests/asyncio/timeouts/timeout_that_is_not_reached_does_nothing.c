/* A block that is left in time: its deadline never happens. */
#include "timeouts.h"

SCENARIO(timeout_that_is_not_reached_does_nothing)
{
    coil_scope scope;
    int rc = enter(&scope, 3);

    if (rc < 0)
        return rc;
    tell("sleep", coil_sleep(COIL_SEC(1)));
    trace("deadline %d", (int)(coil_scope_deadline(&scope) / COIL_SEC(1)));
    leave("timeout", &scope, 0);
    tell("sleep", coil_sleep(COIL_SEC(10)));
    return 0;
}
