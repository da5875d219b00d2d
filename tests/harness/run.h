/*
 * run.h (internal) - declarations for the files of the harness.
 */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include "harness.h"

#include <stdint.h>
#include <sys/types.h>

/* Exit statuses of a test's process. */
enum {
    TEST__PASSED = 0,
    TEST__FAILED = 1,
    TEST__SKIPPED = 77,
};

/* One run of a test. I/O and network tests run once for each backend. */
struct test__run {
    const struct test__case *test;
    const char *backend; /* NULL for tests without a backend */
    char name[128];
};

/* The seed for coil_testing_shuffle(), or 0 for the normal order. */
extern uint64_t test__shuffle;

/* Network tests run on the simulated network once for each of these seeds. */
extern uint64_t test__first_seed;
extern int test__seed_count;

/*
 * run.c: run the test in this process, and check for leaks. Returns TEST__PASSED or
 * TEST__FAILED.
 */
int test__run_here(const struct test__run *run);

/*
 * checks.c: test__complain() prints a line and marks the test as failed.
 * test__complained() returns true if it was called.
 */
void test__complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool test__complained(void);

/*
 * leaks.c: test__leaks_begin() records which descriptors are open before a test.
 * test__leaks_check() reports the test's leaks.
 */
void test__leaks_begin(void);
void test__leaks_check(void);

/* surroundings.c: reset signals, standard streams and limits to their defaults. */
void test__begin_afresh(void);

/*
 * hang.c: write the stacks of the session's processes to the descriptor `output`,
 * beginning with the leader.
 */
void test__show_hang(pid_t session, int output);

/* hang.c: kill the processes of the session, even if its leader has ended. */
void test__kill_session(pid_t session);

/* main.c: end the test as skipped. The caller has printed the reason to stdout. */
void test__end_skipped(void) __attribute__((noreturn));

#endif
