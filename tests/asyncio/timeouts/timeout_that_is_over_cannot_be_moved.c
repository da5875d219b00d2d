/*
 * The deadline of a block that is being cancelled, has expired, or was left cannot be
 * moved.
 */
#include "timeouts.h"

static coil_scope scope;

static void move(const char *when)
{
    int rc = coil_scope_set_deadline(&scope, coil_in(COIL_SEC(2)));

    trace("%s: %s", when, rc == -EINVAL ? "refused" : "moved");
}

SCENARIO(timeout_that_is_over_cannot_be_moved)
{
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    move("inside");
    rc = tell("sleep", coil_sleep(COIL_SEC(10)));
    move("expiring");
    tell("body", leave("timeout", &scope, rc));
    move("expired");
    rc = enter(&scope, 1);
    if (rc < 0)
        return rc;
    leave("timeout", &scope, 0);
    move("left");
    return 0;
}
