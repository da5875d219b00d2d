/*
 * error.h (internal) - creates and prints errors. The task layer stores the errors of
 * tasks.
 */
#ifndef COIL_ERROR_ERROR_H
#define COIL_ERROR_ERROR_H

#include "../coro/coroutine.h"
#include "report.h"

#include <coil/error.h>

#include <stdarg.h>

/* Where a failure happened. Members are NULL if unknown or absent. */
struct coil__error_place {
    const void *from;       /* see coil__backtrace() */
    const char *task;       /* copied */
    const coil__coro *coro; /* the task's coroutine; generators may run inside it */
};

/*
 * Create an error. The caller owns the new reference. `cause` is retained and may be
 * NULL. coil__error_hand_on() creates the error of a task that has awaited a failed task:
 * `cause` is the failed task's error, and the new error has its rc and message. Both
 * functions return NULL if memory ran out, and preserve errno.
 */
coil_error *coil__error_create(const struct coil__error_place *place, int rc,
                               coil_error *cause, const char *format, va_list args);
coil_error *coil__error_hand_on(const struct coil__error_place *place, coil_error *cause);

/*
 * In debug mode, create an error that only records where a failure happened, without a
 * message. The task may still return an earlier failure instead, so the new error retains
 * that failure's error in `earlier`, which may be NULL.
 */
coil_error *coil__error_create_bare(const struct coil__error_place *place, int rc,
                                    coil_error *earlier);

/*
 * Return the error or its `earlier` error, whichever has this rc, or NULL if neither has.
 */
coil_error *coil__error_of_rc(coil_error *error, int rc);

/* Return the error itself, or its `earlier` if the error is bare. */
coil_error *coil__error_with_message(coil_error *error);

/* Create an error with the task and the stack trace of the error `where`. */
coil_error *coil__error_create_at(const coil_error *where, int rc, const char *format,
                                  va_list args);

/* Print the error as part of the report. */
void coil__error_print(struct coil__report *report, const coil_error *error);

/*
 * The function to which coil__misuse_report is set: print the message, and the running
 * stack beginning at `from`.
 */
void coil__error_print_misuse(const char *sentence, const void *from);

/* The number of bytes of stack that printing errors needs, for coil__coro_call(). */
#define COIL__ERROR_PRINT_BYTES ((size_t)768 * 1024)

#endif
