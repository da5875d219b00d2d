/* A deadline may be given as a point of the loop's time. */
#include "timeouts.h"

static int body(int64_t deadline)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, deadline);

    if (rc < 0)
        return rc;
    trace("deadline %d", (int)(coil_scope_deadline(&scope) / COIL_SEC(1)));
    return coil_scope_exit(&scope, tell("sleep", coil_sleep(COIL_SEC(10))));
}

SCENARIO(timeout_may_be_a_point_of_time)
{
    coil_sleep(COIL_SEC(2));
    tell("body", body(COIL_SEC(5)));
    tell("body", body(COIL_SEC(5)));
    return 0;
}
