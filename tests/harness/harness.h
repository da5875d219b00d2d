/*
 * harness.h - macros and functions for tests.
 *
 *     #include "harness.h"
 *
 *     TEST(a_queue_starts_empty)
 *     {
 *         coil_queue q = COIL_QUEUE_INIT(4);
 *
 *         CHECK(coil_queue_empty(&q));
 *         CHECK_INT(coil_queue_count(&q), 0);
 *     }
 *
 * A test registers itself. Each test runs in its own process for at most 20 seconds, or
 * 120 seconds if scripts/test, scripts/check or .ci/run start it (coil-tests -t). Time
 * during which the test is ready to run but has to wait for a processor does not count. A
 * failed check makes the test fail, but does not end it. A test also fails if it crashes,
 * times out, or leaks a descriptor, memory of coil, a stack, a task or a loop.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <coil/task.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Define a test that runs without a loop, unless it creates one itself. */
#define TEST(name) TEST__DEFINE(name, TEST__PLAIN)

/* Define a test that runs as the main task of coil_run(), with a virtual clock. */
#define TASK_TEST(name) TEST__DEFINE(name, TEST__TASK)

/*
 * Define a test that runs as the main task of coil_run(), with the real clock, once per
 * backend: name/epoll, name/poll, ...
 */
#define IO_TEST(name) TEST__DEFINE(name, TEST__IO)

/*
 * Define a test of coil_listen(), coil_connect() or similar calls. It runs once per
 * backend, like an IO_TEST, and also as name/simulated: on a simulated network
 * (coil/network.h) with the virtual clock, once for each of several seeds. The simulated
 * network is slow, and may transfer only a part of the bytes of a read or write, but it
 * does not make calls fail. Such a test must not use raw descriptors, static variables
 * that have to start as zero (all seeds run in one process), or loops of coil_yield()
 * (the virtual clock does not advance in them).
 */
#define NET_TEST(name) TEST__DEFINE(name, TEST__NET)

/* True in name/simulated. */
bool test_simulated(void);

/*
 * Tests with their own loop over seeds call these functions. test_first_seed() returns
 * the first seed. test_seed_count() returns the number of seeds: `usual`, unless the
 * command line changes this. test_seed_failed() prints the command that repeats the test
 * with that seed.
 */
uint64_t test_first_seed(void);
int test_seed_count(int usual);
void test_seed_failed(uint64_t seed, const char *name);

/*
 * Return how many objects a test of very many objects should create. test_many() returns
 * `many`, or a tenth of it under ASan and a hundredth under TSan and Valgrind, because
 * these tools are slow. test_hundred_thousand() and test_million() return at most the
 * number in their names in `make soak` (-n above 8), and at most 20,000 and 30,000 in
 * other runs, because a million stacks need 4 GiB of memory.
 */
int test_many(int many);
int test_hundred_thousand(void);
int test_million(void);
bool test_in_soak(void);

/*
 * Return true if the test should run case i on this backend. An I/O test with many cases
 * that hardly depend on the backend can divide its cases among the backends in this way.
 * In `make soak` each backend runs all cases.
 */
bool test_has_turn(size_t i);

/*
 * Return n bytes of zeros, which the test need not free. Use this for large buffers
 * instead of a static variable, every page of which LeakSanitizer would read in each
 * test.
 */
void *test_memory(size_t n);

/* ---- checks: a failed check prints file, line and both values ---------------------- */

#define CHECK(expr) test__check(__FILE__, __LINE__, #expr, (expr) ? true : false)

#define CHECK_INT(actual, expected)                                                      \
    test__check_int(__FILE__, __LINE__, #actual, (long long)(actual),                    \
                    (long long)(expected))

#define CHECK_STR(actual, expected)                                                      \
    test__check_str(__FILE__, __LINE__, #actual, (actual), (expected))

#define CHECK_PTR(actual, expected)                                                      \
    test__check_ptr(__FILE__, __LINE__, #actual, (actual), (expected))

/* ---- exact sequences --------------------------------------------------------------- */

/* Append a formatted text to the test's trace. Any thread may call this function. */
void test_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Compare the whole trace, and empty it. */
#define CHECK_TRACE(expected) test__check_trace(__FILE__, __LINE__, (expected))

/*
 * Return the trace so far, for tests that compare only parts of it. test_trace_clear()
 * discards the trace.
 */
const char *test_trace_text(void);
void test_trace_clear(void);

/* ---- programs that abort ----------------------------------------------------------- */

/*
 * Call fn(arg) in a forked child, and expect that the child calls abort() and that its
 * stderr contains `text`.
 */
#define test_dies(fn, arg, text)                                                         \
    test__dies(__FILE__, __LINE__, #fn, (fn), (arg), SIGABRT, (text))

/* Like test_dies(), but for a signal other than SIGABRT. */
#define test_dies_by_signal(fn, arg, signo, text)                                        \
    test__dies(__FILE__, __LINE__, #fn, (fn), (arg), (signo), (text))

/*
 * Return the text with which reports name a function of this file, such as "compute at
 * tests/unit/debug/test_slow.c:", for any build folder. The text is valid until the next
 * call.
 */
#define test_place(function) test__place((function), __FILE__)
const char *test__place(const char *function, const char *file);

/* ---- tasks ------------------------------------------------------------------------- */

/* Spawn a task. The caller owns the reference. */
coil_task *test_spawn(coil_task_fn fn, void *arg);

/* Await the task, release it, and return its result. */
int test_join(coil_task *task);

/* ---- the rest ---------------------------------------------------------------------- */

/* End the test here, and count it as skipped. */
void test_skip(const char *reason) __attribute__((noreturn));

/*
 * Return the value in KiB of `key` in a file of /proc with lines like "VmHWM: 1234 kB",
 * or -1 if the key is missing.
 */
long test_proc_kib(const char *path, const char *key);

/* Return the number of memory mappings of the process. */
long test_mapping_count(void);

/* Return the backend on which this I/O test runs, or NULL in other tests. */
const char *test_backend(void);

/* Return true under Valgrind, where memory figures and signal handling differ. */
bool test_under_valgrind(void);

/*
 * Make coil's nth allocation from now on fail: the next one if n is 1, and none if n is
 * 0. Growing a block counts as an allocation. Stacks do not count, because they are
 * allocated with mmap(2).
 */
void test_fail_allocation(int n);

/* Return the number of bytes or blocks that coil has allocated and not freed. */
size_t test_bytes_held(void);
size_t test_blocks_held(void);

/* ---- behind the macros ------------------------------------------------------------- */

enum test__kind {
    TEST__PLAIN,
    TEST__TASK,
    TEST__IO,
    TEST__NET,
};

struct test__case {
    const char *name, *file;
    int line;
    enum test__kind kind;
    bool hidden; /* only run with -s: fails on purpose, to test the harness */
    void (*body)(void);
    struct test__case *next;
};

void test__register(struct test__case *test);

#define TEST__DEFINE(name, kind) TEST__DEFINE_CASE(name, kind, false)

#define TEST__DEFINE_CASE(name, kind, hidden)                                            \
    static void test_body_of_##name(void);                                               \
    static struct test__case test_case_of_##name = {                                     \
        #name, __FILE__, __LINE__, kind, hidden, test_body_of_##name, NULL};             \
    __attribute__((constructor)) static void test_register_##name(void)                  \
    {                                                                                    \
        test__register(&test_case_of_##name);                                            \
    }                                                                                    \
    static void test_body_of_##name(void)

void test__check(const char *file, int line, const char *text, bool holds);
void test__check_int(const char *file, int line, const char *text, long long actual,
                     long long expected);
void test__check_str(const char *file, int line, const char *text, const char *actual,
                     const char *expected);
void test__check_ptr(const char *file, int line, const char *text, const void *actual,
                     const void *expected);
void test__check_trace(const char *file, int line, const char *expected);
void test__dies(const char *file, int line, const char *name, void (*fn)(void *),
                void *arg, int signo, const char *text);

#endif
