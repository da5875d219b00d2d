/* Without a deadline nothing is cut off, however it is said. */
#include "timeouts.h"

SCENARIO(timeout_of_none_never_comes)
{
    coil_scope scope;

    coil_scope_enter(&scope, COIL_NEVER);
    tell("sleep", coil_sleep(COIL_SEC(1000)));
    trace("deadline %s", coil_scope_deadline(&scope) == COIL_NEVER ? "none" : "some");
    leave("none", &scope, 0);
    coil_scope_enter(&scope, COIL_NEVER);
    tell("sleep", coil_sleep(COIL_SEC(1000)));
    coil_scope_exit(&scope, 0);
    trace("expired %d", coil_scope_expired(&scope));
    return 0;
}
