/*
 * error.h (internal) - making errors. Whose they are is the task layer's.
 */
#ifndef COIL_ERROR_ERROR_H
#define COIL_ERROR_ERROR_H

#include "../base/base.h"

#include <coil/error.h>

#include <stdarg.h>

/*
 * Create one with a reference. `task` is copied, `cause` retained; NULL is accepted for
 * both. `from`: see coil__backtrace(). Without a format it has the cause's sentence: it
 * is the same failure, handed on. Returns NULL where memory fails. errno is kept.
 */
coil_error *coil__error_create(int rc, const char *task, const void *from,
                               coil_error *cause, const char *format, va_list args);
coil_error *coil__error_hand_on(coil_error *cause, const char *task, const void *from);

/* For coil__misuse_detail: the stack that runs. */
void coil__error_print_here(void);

/*
 * So much room is there on the stack that coil__coro_call() gives to whoever prints
 * errors on it.
 */
#define COIL__ERROR_PRINT_BYTES ((size_t)768 * 1024)

#endif
