/*
 * Two nested deadlines pass at once: inside it is a cancellation, and only the outer
 * block times out.
 */
#include "timeouts.h"

SCENARIO(timeout_of_two_that_pass_together_is_the_outer_one)
{
    coil_scope outer, inner;
    int rc = enter(&outer, 1);

    if (rc < 0)
        return rc;
    rc = enter(&inner, 1);
    if (rc < 0)
        return coil_scope_exit(&outer, rc);
    rc = leave("inner", &inner, tell("sleep", coil_sleep(COIL_SEC(10))));
    tell("body", leave("outer", &outer, rc));
    return 0;
}
