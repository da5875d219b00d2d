/*
 * error.h (internal) - making errors. Whose they are is the task layer's.
 */
#ifndef COIL_ERROR_ERROR_H
#define COIL_ERROR_ERROR_H

#include "../coro/coroutine.h"

#include <coil/error.h>

#include <stdarg.h>

/* Where it happens: NULL for what there is not. */
struct coil__error_place {
    const void *from;       /* see coil__backtrace() */
    const char *task;       /* copied */
    const coil__coro *coro; /* the task's, in which there may be generators */
};

/*
 * Create one with a reference. `cause` is retained; NULL is accepted. Without a format it
 * has the cause's sentence: it is the same failure, handed on. Returns NULL where memory
 * fails. errno is kept.
 */
coil_error *coil__error_create(const struct coil__error_place *place, int rc,
                               coil_error *cause, const char *format, va_list args);
coil_error *coil__error_hand_on(const struct coil__error_place *place, coil_error *cause);

/* For coil__misuse_detail: the stack that runs. */
void coil__error_print_here(const void *from);

/*
 * So much room is there on the stack that coil__coro_call() gives to whoever prints
 * errors on it.
 */
#define COIL__ERROR_PRINT_BYTES ((size_t)768 * 1024)

#endif
