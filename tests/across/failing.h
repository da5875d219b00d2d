/*
 * failing.h - calls that fail, and what describes their failures.
 */
#ifndef COIL_TESTS_ACROSS_FAILING_H
#define COIL_TESTS_ACROSS_FAILING_H

#include <stddef.h>
#include <sys/types.h>

/* A call that fails, each time it is made. */
struct failing_call {
    const char *name;
    ssize_t (*call)(void);
};

/* A row: a function is named as it is called. */
/* clang-format off */
#define CALL(function) {#function, function}
/* clang-format on */

/*
 * Each call, made by a task that has dealt with an older failure of the same rc, fails the
 * task with a sentence of the call's own, or with none. Names those that do not.
 */
void check_own_sentences(const struct failing_call *calls, size_t n);

/* The same of coil_last_error(), after an older failure of another rc. */
void check_last_errors(const struct failing_call *calls, size_t n);

/* Each object of objects.h is made again and again, and each call, while one allocation or
   system call fails: no such failure has the sentence of an older one. A call that
   succeeds leaves nothing behind. */
void check_objects_that_fail(void);
void check_calls_that_fail(const struct failing_call *calls, size_t n);

#endif
