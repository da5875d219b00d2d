/*
 * failing.h - checks the messages of calls that fail.
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

/* Define an element of an array of struct failing_call. */
/* clang-format off */
#define CALL(function) {#function, function}
/* clang-format on */

/*
 * Make each call in a task, after an older failure with the same rc. Check that the
 * task's error has the call's own message, or none. Prints the name of each call that
 * fails this check.
 */
void check_own_sentences(const struct failing_call *calls, size_t n);

/*
 * Like check_own_sentences(), but the older failure has another rc, and coil_last_error()
 * is checked instead.
 */
void check_last_errors(const struct failing_call *calls, size_t n);

/*
 * Create each object of objects.h (or make each call) repeatedly. Each time, a different
 * allocation or system call fails. Check that no failure has the message of an older
 * failure, and that a successful call does not set the last error.
 */
void check_objects_that_fail(void);
void check_calls_that_fail(const struct failing_call *calls, size_t n);

#endif
