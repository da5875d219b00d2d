/*
 * The cleanup of a block that was cut off has a deadline of its own, and is cut off,
 * too; the block has timed out all the same.
 */
#include "timeouts.h"

static void clean_up(void)
{
    coil_scope inner;
    int rc;

    coil_cancel_caught();
    rc = enter(&inner, 1);
    if (rc == 0)
        rc = leave("inner", &inner, tell("cleanup", coil_sleep(COIL_SEC(10))));
    trace("caught %s", outcome(rc));
}

SCENARIO(timeout_of_a_cleanup_after_a_timeout)
{
    coil_scope outer;
    int rc = enter(&outer, 1);

    if (rc < 0)
        return rc;
    rc = tell("sleep", coil_sleep(COIL_SEC(10)));
    clean_up();
    tell("body", leave("outer", &outer, rc));
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
