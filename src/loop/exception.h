/*
 * exception.h (internal) - the loop's handler for failures that cannot be returned to a
 * caller.
 */
#ifndef COIL_LOOP_EXCEPTION_H
#define COIL_LOOP_EXCEPTION_H

#include <coil/loop.h>

/* Private to exception.c. */
struct coil__exception {
    coil_exception_handler handler; /* NULL: the default handler */
    void *arg;
    bool handling;
};

static inline bool coil__exception_is_default(const struct coil__exception *exception)
{
    return exception->handler == NULL;
}

#endif
