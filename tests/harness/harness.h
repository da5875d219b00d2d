/*
 * harness.h - what a test is written with.
 *
 *     #include "../harness/harness.h"
 *
 *     TEST(a_queue_starts_empty)
 *     {
 *         coil_queue q = COIL_QUEUE_INIT(4);
 *
 *         CHECK(coil_queue_empty(&q));
 *         CHECK_INT(coil_queue_count(&q), 0);
 *     }
 *
 * A test registers itself. It runs in a process of its own, for 20 seconds at most, and
 * fails on a failed check, a crash, running out of time, or leaving behind a descriptor,
 * a byte of coil's memory, a stack, a task or a loop. A failed check does not end it.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A test of plain C, without a loop unless it makes one. */
#define TEST(name) TEST__DEFINE(name, TEST__PLAIN)

/* The body runs as the main task of coil_run(), under a virtual clock. */
#define TASK_TEST(name) TEST__DEFINE(name, TEST__TASK)

/* The same with the real clock, once for each backend: name/epoll, name/poll, ... */
#define IO_TEST(name) TEST__DEFINE(name, TEST__IO)

/*
 * For what coil_listen(), coil_connect() and their like open: as IO_TEST, and as
 * name/simulated on a simulated network (coil/network.h) under the virtual clock, once
 * for each of several seeds. That network is slow, and reads and writes move less than
 * they could, but nothing fails there. Raw descriptors have no place in such a test, nor
 * static variables that are to begin as zero,
 * nor loops of coil_yield(): the clock stands still for them.
 */
#define NET_TEST(name) TEST__DEFINE(name, TEST__NET)

/* True in name/simulated. */
bool test_simulated(void);

/*
 * For tests that go through seeds by themselves: the first, and how many, which is
 * `usual` unless the command line says otherwise. Of a seed that fails test_seed_failed()
 * prints how to try it again.
 */
uint64_t test_first_seed(void);
int test_seed_count(int usual);
void test_seed_failed(uint64_t seed, const char *name);

/* ---- checks: print file, line and both values, and make the test fail ---------------
 */

#define CHECK(expr) test__check(__FILE__, __LINE__, #expr, (expr) ? true : false)

#define CHECK_INT(actual, expected)                                                      \
    test__check_int(__FILE__, __LINE__, #actual, (long long)(actual),                    \
                    (long long)(expected))

#define CHECK_STR(actual, expected)                                                      \
    test__check_str(__FILE__, __LINE__, #actual, (actual), (expected))

#define CHECK_PTR(actual, expected)                                                      \
    test__check_ptr(__FILE__, __LINE__, #actual, (actual), (expected))

/* ---- exact sequences ----------------------------------------------------------------
 */

/* Append to the test's trace, as printf(3). Any thread. */
void test_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Compare the whole trace, and empty it. */
#define CHECK_TRACE(expected) test__check_trace(__FILE__, __LINE__, (expected))

/* The trace so far, for tests that look at parts of it; and emptying it unseen. */
const char *test_trace_text(void);
void test_trace_clear(void);

/* ---- programs that are stopped ------------------------------------------------------
 */

/*
 * Call fn(arg) in a forked child and expect it to end by abort(), with `text` somewhere
 * in what it wrote to stderr.
 */
#define test_dies(fn, arg, text)                                                         \
    test__dies(__FILE__, __LINE__, #fn, (fn), (arg), SIGABRT, (text))

/* The same for another signal. */
#define test_dies_by_signal(fn, arg, signo, text)                                        \
    test__dies(__FILE__, __LINE__, #fn, (fn), (arg), (signo), (text))

/* ---- the rest -----------------------------------------------------------------------
 */

/* End the test here, counted as skipped. */
void test_skip(const char *reason) __attribute__((noreturn));

/* A figure of a file of /proc that has lines like "VmHWM:  1234 kB", in KiB; -1: none. */
long test_proc_kib(const char *path, const char *key);

/* How many mappings the process has. */
long test_mapping_count(void);

/* True under valgrind: memory figures and signals are its own there. */
bool test_under_valgrind(void);

/*
 * Let the nth allocation of coil's from now on fail, once: 1 is the next. 0 takes the
 * order back. Blocks that grow count as allocations; stacks do not (they are mmap(2)'s).
 */
void test_fail_allocation(int n);

/* How many bytes and blocks coil holds now. */
size_t test_bytes_held(void);
size_t test_blocks_held(void);

/* ---- behind the macros --------------------------------------------------------------
 */

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
    bool hidden; /* only run when asked for: made to fail, to test the harness */
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
