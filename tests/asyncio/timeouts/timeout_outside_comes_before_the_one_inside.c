/*
 * An outer deadline that passes first cancels through the inner block, which has not
 * expired.
 */
#include "timeouts.h"

SCENARIO(timeout_outside_comes_before_the_one_inside)
{
    coil_scope outer, inner;
    int rc = enter(&outer, 1);

    if (rc < 0)
        return rc;
    rc = enter(&inner, 3);
    if (rc < 0)
        return coil_scope_exit(&outer, rc);
    rc = leave("inner", &inner, tell("sleep", coil_sleep(COIL_SEC(10))));
    tell("body", leave("outer", &outer, rc));
    tell("sleep", coil_sleep(COIL_SEC(5)));
    return 0;
}
