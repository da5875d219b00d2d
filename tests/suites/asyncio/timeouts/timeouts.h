/*
 * timeouts.h - functions for scenarios about timeouts.
 */
#ifndef TESTS_ASYNCIO_TIMEOUTS_H
#define TESTS_ASYNCIO_TIMEOUTS_H

#include "../scenario.h"

/* Open a scope with a timeout in seconds. */
static inline int enter(coil_scope *scope, int seconds)
{
    return coil_scope_enter(scope, coil_in(COIL_SEC(seconds)));
}

/*
 * Exit from the scope, and write `what`, the outcome, and whether the scope expired to
 * the trace.
 */
static inline int leave(const char *what, coil_scope *scope, int rc)
{
    rc = coil_scope_exit(scope, rc);
    trace("%s: %s, expired %d", what, outcome(rc), coil_scope_expired(scope));
    return rc;
}

#endif
