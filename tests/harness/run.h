/*
 * run.h - what the files of the harness share: one run of one test, and its end.
 */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include "harness.h"

#include <stdint.h>

/* How the process of a test ends. */
enum {
    TEST__PASSED = 0,
    TEST__FAILED = 1,
    TEST__SKIPPED = 77,
};

/* A test as it is run: an I/O test counts once for each backend. */
struct test__run {
    const struct test__case *test;
    const char *backend; /* NULL but for I/O and network tests */
    char name[128];
};

/* The seed of random orders, or 0; see harness.h. */
extern uint64_t test__shuffle;

/* A network test on the simulated network runs with the seeds from first on, so many. */
extern uint64_t test__first_seed;
extern int test__seed_count;

/* run.c: run the test in this process, look for leaks; TEST__PASSED or TEST__FAILED. */
int test__run_here(const struct test__run *run);

/* checks.c: a line about what failed, which makes the test fail. */
void test__complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool test__complained(void);

/* leaks.c: note what there is before a test; complain about what is left after it. */
void test__leaks_begin(void);
void test__leaks_check(void);

/* main.c: the test ends as skipped; the reason stands on stdout. */
void test__end_skipped(void) __attribute__((noreturn));

#endif
