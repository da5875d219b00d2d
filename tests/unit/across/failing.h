/*
 * failing.h - check the messages of calls that fail.
 */
#ifndef COIL_TESTS_ACROSS_FAILING_H
#define COIL_TESTS_ACROSS_FAILING_H

#include <stddef.h>
#include <sys/types.h>

/* A call that fails each time. */
struct failing_call {
    const char *name;
    ssize_t (*call)(void);
};

/* A row: a function and its name. */
/* clang-format off */
#define CALL(function) {#function, function}
/* clang-format on */

/*
 * A task handles an older failure with the same rc and then makes each call. The failure
 * of the task must have the call's own message, or none. Prints the names of calls that
 * violate this.
 */
void check_own_sentences(const struct failing_call *calls, size_t n);

/*
 * Like check_own_sentences(), but check coil_last_error(), and let the older failure have
 * another rc.
 */
void check_last_errors(const struct failing_call *calls, size_t n);

/*
 * Make each object of objects.h repeatedly, and each call, while one allocation or system
 * call fails. Check that the failure does not have the message of an older failure, and
 * that a call that succeeds leaves no error behind.
 */
void check_objects_that_fail(void);
void check_calls_that_fail(const struct failing_call *calls, size_t n);

#endif
