/*
 * An inner deadline that passes first is a timeout there; the work goes on outside
 * until the outer one passes.
 */
#include "timeouts.h"

static int inner(void)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    return leave("inner", &scope, tell("first sleep", coil_sleep(COIL_SEC(10))));
}

SCENARIO(timeout_inside_comes_before_the_one_outside)
{
    coil_scope outer;
    int rc = enter(&outer, 3);

    if (rc < 0)
        return rc;
    trace("caught %s", outcome(inner()));
    tell("body", leave("outer", &outer, tell("second sleep", coil_sleep(COIL_SEC(10)))));
    return 0;
}
