/*
 * scenario.h - what a scenario in C is written with; scenario.py is the same for Python.
 *
 *     #include "../scenario.h"
 *
 *     ... its claim, in a comment ...
 *     SCENARIO(sleep_returns_after_its_delay)
 *     {
 *         trace("sleeps");
 *         trace("slept: %s", outcome(coil_sleep(COIL_SEC(3))));
 *         return 0;
 *     }
 *
 * A file has the scenarios of a topic. The trace is the scenario's claim: it must be the
 * one that CPython prints for the function of the same name in TOPIC.py. Each runs in a
 * process of its own, under a virtual clock; what it leaves behind (memory of coil's) and
 * how it dies are lines of the trace too.
 *
 * A scenario must survive bad days (days.h, run --soak), when an allocation or a system
 * call fails: check whatever can return -ENOMEM, and leave with its rc, closing what is
 * open, as any program should.
 */
#ifndef TESTS_ASYNCIO_SCENARIO_H
#define TESTS_ASYNCIO_SCENARIO_H

#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The body is the main task of coil_run(). Its rc, if below 0, is the last line. */
#define SCENARIO(name) SCENARIO__DEFINE(name, true)

/* The body is called without a loop, and makes what it wants. */
#define PLAIN_SCENARIO(name) SCENARIO__DEFINE(name, false)

/* A line of the trace: the time of the loop in whole seconds, and the text. */
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An rc in the trace: "ECANCELED", or a number. Valid for the next seven calls. */
const char *outcome(int rc);

/* A future's state or result in the trace: "EINPROGRESS", "ECANCELED", "EIO", or a
 * number. Counts as retrieving. */
const char *state(coil_future *future);

/* "WHAT: OUTCOME" in the trace; returns rc. */
int tell(const char *what, int rc);

/* True once an allocation was made to fail: for what is otherwise impossible. */
bool allocation_failed(void);

/*
 * A task, one in a group, a pending future of the scenario's own: held until its loop has
 * closed, so there is nothing to release. NULL where one cannot be made, or could not
 * before: nobody starts with what is missing.
 */
coil_task *start(coil_task_fn fn, void *arg);
coil_task *start_child(coil_group *group, coil_task_fn fn, void *arg);
coil_task *start_with(coil_task_fn fn, void *arg, const coil_spawn_opts *opts);
coil_future *new_future(void);

/* Call fn(arg) when the loop has closed, the latest first: for what may be in use until
 * then. */
void at_end(void (*fn)(void *arg), void *arg);

/* The failures of a group that has ended, in the trace: "EIO EPROTO". */
const char *failures(const coil_group *group);

/* An exception handler that says what it is told: "MESSAGE: OUTCOME". */
void tell_exception(const coil_exception *exception, void *arg);

/* Let n turns of the loop pass. */
int turns(int n);

/* The body of a task that says "turn 1", "turn 2", ... in so many turns as `arg` is: with
 * it a trace shows in which turn something happens. start(ticker, TURNS(3)) */
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

/* Do what was to be done at the end. */
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
