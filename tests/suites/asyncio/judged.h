/*
 * judged.h - functions for scenarios that tests/suites/judge generated, in addition to
 * scenario.h. judged.py is the Python counterpart, and describes the judge's programs.
 */
#ifndef TESTS_ASYNCIO_JUDGED_H
#define TESTS_ASYNCIO_JUDGED_H

#include "scenario.h"

#include <errno.h>

/* An outcome that is not an errno. The trace shows it as "absent". */
#define ABSENT (-100000)

/* A task of the judge's program, which may not have started yet. */
struct judged_task {
    const char *name;
    int (*run)(void);
    coil_task *task;
    bool raced; /* true if a race started the task */
    int result;
};

#define TASK(name)                                                                       \
    static int name##_run(void);                                                         \
    static struct judged_task name = {#name, name##_run, NULL, false, 0}

struct judged_group {
    coil_group group;
    bool open;
};

/* Write `what` and the outcome of the call to the trace. Returns rc. */
int trace_step(const char *what, int rc);

/* ---- tasks and futures ------------------------------------------------------------- */

int start_task(struct judged_task *task, struct judged_group *group);
int start_eagerly(struct judged_task *task, struct judged_group *group);
int cancel(struct judged_task *task);
int unpark(struct judged_task *task, int value);

/* Return the future of the task, or NULL if the task has not started. */
coil_future *future_of(const struct judged_task *task);

/*
 * Gather the futures, or wait for them. Write `what`, the outcome, and the states of the
 * futures to the trace. NULLs are skipped.
 */
int gather(const char *what, unsigned flags, size_t n, coil_future *futures[]);
int wait_for(const char *what, coil_wait_mode mode, int64_t deadline, size_t n,
             coil_future *futures[]);

/* Print "gets STATE" for each future when it completes. */
int as_completed(const char *what, int64_t deadline, size_t n, coil_future *futures[]);

/*
 * Run a staggered race of those tasks that have not started. Write the outcome of the
 * race to the trace, and then the result of each task.
 */
int race(const char *what, int64_t delay_ns, size_t n, struct judged_task *tasks[]);

/* Add a callback that prints "callback NAME STATE" when the future is done. */
int add_callback(const char *name, coil_future *future);
int remove_callback(const char *name, coil_future *future);

/* Schedule a call that prints "called MARK". */
int call_soon(int mark);
int call_later(int seconds, int mark);
int call_at(int when, int mark);
int cancel_call(int mark);

/* Return the names of the living tasks, for the trace. */
const char *living_tasks(void);

/*
 * Context variables. When a task starts or a callback runs, it prints the variables that
 * are not 0.
 */
extern coil_var v0, v1;

int set(coil_var *variable, int value);
int value_of(const coil_var *variable);

/* ---- blocks ------------------------------------------------------------------------ */

void group_enter(struct judged_group *group);
int group_exit(struct judged_group *group, int rc);
int group_cancel(struct judged_group *group);
int scope_exit(coil_scope *scope, int rc);

/* ---- sync -------------------------------------------------------------------------- */

int wait_for_event(coil_condition *condition, coil_event *event);
int barrier_state(const coil_barrier *barrier);
int put(coil_queue *queue, int item);
int put_nowait(coil_queue *queue, int item);
int get(coil_queue *queue);
int get_nowait(coil_queue *queue);
int compare_items(const void *a, const void *b);

/* ---- the driver -------------------------------------------------------------------- */

/*
 * Start the first task, wait until all tasks have ended, and print the result of each
 * task. Each array ends with NULL.
 */
int drive(struct judged_task *const tasks[], coil_lock *const locks[],
          coil_future *const futures[]);

#endif
