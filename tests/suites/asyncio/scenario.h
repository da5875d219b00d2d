/*
 * scenario.h - macros and functions for scenarios in C. scenario.py is the Python
 * counterpart.
 *
 *     #include "../scenario.h"
 *
 *     ... a comment that describes the behaviour ...
 *     SCENARIO(sleep_returns_after_its_delay)
 *     {
 *         trace("sleeps");
 *         trace("slept: %s", outcome(coil_sleep(COIL_SEC(3))));
 *         return 0;
 *     }
 *
 * Each file contains the scenarios for one topic. The trace of a scenario must equal
 * CPython's output for the function of the same name in TOPIC.py. Each scenario runs in
 * its own process, with a virtual clock. A crash or a memory leak adds a line to the
 * trace.
 *
 * A scenario must survive bad days (days.h, run --soak), on which an allocation or a
 * system call fails. So the scenario checks each call that can return -ENOMEM. After an
 * error, it closes open objects and returns the error, as any program should.
 */
#ifndef TESTS_ASYNCIO_SCENARIO_H
#define TESTS_ASYNCIO_SCENARIO_H

#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Define a scenario that runs as the main task of coil_run(). If the scenario returns a
 * negative rc, the last line of the trace is "ends: " and the errno.
 */
#define SCENARIO(name) SCENARIO__DEFINE(name, true)

/* Define a scenario that is called without a loop, and creates the loop itself. */
#define PLAIN_SCENARIO(name) SCENARIO__DEFINE(name, false)

/* Print a line of the trace: the time of the loop in whole seconds, and the text. */
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Return the text of an rc: the name of an errno such as "ECANCELED", or a number. The
 * text remains valid during the next seven calls.
 */
const char *outcome(int rc);

/*
 * Return a text that describes a future's state or result: "EINPROGRESS", "ECANCELED",
 * "EIO", or a number. After this call, the result counts as retrieved.
 */
const char *state(coil_future *future);

/* Write `what` and the outcome of the call to the trace. Returns rc. */
int trace_outcome(const char *what, int rc);

/*
 * Return true if this is a bad day, and the allocation that it makes fail has already
 * failed. Scenarios call this to handle situations that only such a failure can cause.
 */
bool allocation_failed(void);

/*
 * Create a task, a task in a group, or a pending future. The object is released after the
 * loop has closed, so the scenario need not release it. Returns NULL on failure, or if an
 * argument is NULL.
 */
coil_task *start(coil_task_fn fn, void *arg);
coil_task *start_child(coil_group *group, coil_task_fn fn, void *arg);
coil_task *start_with(coil_task_fn fn, void *arg, const coil_spawn_opts *opts);
coil_future *new_future(void);

/*
 * Call fn(arg) after the loop has closed, for example to free an object that may be in
 * use until then. The calls are in reverse order of registration.
 */
void at_end(void (*fn)(void *arg), void *arg);

/* Return the text of the failures of a group that has ended: "EIO EPROTO". */
const char *failures(const coil_group *group);

/* An exception handler that prints its report: "MESSAGE: OUTCOME". */
void trace_exception(const coil_exception *exception, void *arg);

/* Wait for n turns of the loop. */
int turns(int n);

/*
 * Print "turn 1", "turn 2" and so on, so that the trace shows in which turn something
 * happens. start(ticker, TURNS(3)) starts a task that does this for three turns.
 */
int ticker(void *arg);

#define TURNS(n) ((void *)(intptr_t)(n))

/* ---- inside ------------------------------------------------------------------------ */

struct scenario {
    const char *name;
    int (*body)(void *arg);
    bool in_task;
    struct scenario *next;
};

void scenario__register(struct scenario *scenario);

/* Call the functions that were registered with at_end(). */
void scenario__end(void);

#define SCENARIO__DEFINE(name, in_task)                                                  \
    static int scenario_##name(void *arg);                                               \
    __attribute__((constructor)) static void register_##name(void)                       \
    {                                                                                    \
        static struct scenario s = {#name, scenario_##name, in_task, NULL};              \
        scenario__register(&s);                                                          \
    }                                                                                    \
    static int scenario_##name(void *arg __attribute__((unused)))

#endif
