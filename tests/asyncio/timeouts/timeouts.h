/* timeouts.h - what many scenarios of deadlines need. */
#ifndef TESTS_ASYNCIO_TIMEOUTS_H
#define TESTS_ASYNCIO_TIMEOUTS_H

#include "../scenario.h"

/* Opens a scope of so many seconds. */
static inline int enter(coil_scope *scope, int seconds)
{
    return coil_scope_enter(scope, coil_in(COIL_SEC(seconds)));
}

/* Leaves it: "WHAT: OUTCOME" in the trace, and whether it expired. */
static inline int leave(const char *what, coil_scope *scope, int rc)
{
    rc = coil_scope_exit(scope, rc);
    trace("%s: %s, expired %d", what, outcome(rc), coil_scope_expired(scope));
    return rc;
}

#endif
