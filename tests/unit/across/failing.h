/*
 * failing.h - check the messages of calls that fail.
 */
#ifndef COIL_TESTS_ACROSS_FAILING_H
#define COIL_TESTS_ACROSS_FAILING_H

#include <stddef.h>
#include <sys/types.h>

/* A call that always fails. */
struct failing_call {
    const char *name;
    ssize_t (*call)(void);
};

/* A row: a function and its name. */
/* clang-format off */
#define CALL(function) {#function, function}
/* clang-format on */

/*
 * Run a task for each call. The task handles a failure with the same rc first, and then
 * makes the call. The error of the task must have the call's own message, or none. Prints
 * the names of calls that violate this.
 */
void check_own_sentences(const struct failing_call *calls, size_t n);

/*
 * Like check_own_sentences(), but check coil_last_error() after an older failure with
 * another rc.
 */
void check_last_errors(const struct failing_call *calls, size_t n);

/*
 * Create each object of objects.h, or make each call, while a different allocation or
 * system call fails each time. Check that no failure has the message of an older failure,
 * and that a successful call does not set the last error.
 */
void check_objects_that_fail(void);
void check_calls_that_fail(const struct failing_call *calls, size_t n);

#endif
