/*
 * error.h (internal) - creating and printing errors. The task layer keeps them for tasks.
 */
#ifndef COIL_ERROR_ERROR_H
#define COIL_ERROR_ERROR_H

#include "../coro/coroutine.h"
#include "report.h"

#include <coil/error.h>

#include <stdarg.h>

/* Where the failure happens. NULL: not known, or none. */
struct coil__error_place {
    const void *from;       /* see coil__backtrace() */
    const char *task;       /* copied */
    const coil__coro *coro; /* the task's, in which there may be generators */
};

/*
 * Create an error; the caller owns the reference. `cause` is retained and may be NULL.
 * coil__error_hand_on() makes the error of a task that awaits `cause`: it has the same rc
 * and sentence. Both return NULL if memory fails, and keep errno.
 */
coil_error *coil__error_create(const struct coil__error_place *place, int rc,
                               coil_error *cause, const char *format, va_list args);
coil_error *coil__error_hand_on(const struct coil__error_place *place, coil_error *cause);

/*
 * Debug mode: create an error without a message for a failure, to record its place. The
 * task may still return the failure before it: that is kept as `earlier`, which is
 * retained and may be NULL.
 */
coil_error *coil__error_create_bare(const struct coil__error_place *place, int rc,
                                    coil_error *earlier);

/* The error itself if it has that rc, else its `earlier` if that has, else NULL. */
coil_error *coil__error_of_rc(coil_error *error, int rc);

/* For an error that is not bare: itself; else its `earlier`. */
coil_error *coil__error_with_message(coil_error *error);

/* The same with the task and the stack of `where`. */
coil_error *coil__error_create_at(const coil_error *where, int rc, const char *format,
                                  va_list args);

/* Print the error as a part of the report. */
void coil__error_print(struct coil__report *report, const coil_error *error);

/* For coil__misuse_report: the sentence and the running stack, beginning with `from`. */
void coil__error_print_misuse(const char *sentence, const void *from);

/* The stack that printing errors needs, for coil__coro_call(). */
#define COIL__ERROR_PRINT_BYTES ((size_t)768 * 1024)

#endif
