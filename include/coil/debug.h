/*
 * coil/debug.h - inspect the program's tasks: what they wait for, where, and since when.
 *
 *     static int show(coil_task *task, void *arg)
 *     {
 *         coil_waiting w;
 *
 *         (void)arg;
 *         if (coil_task_waiting(task, &w))
 *             printf("%s waits for a %s\n", coil_task_name(task), w.what);
 *         return 0;
 *     }
 *
 * Call it for each task of the loop:
 *
 *     coil_task_each(show, NULL);
 *
 * No function here suspends. All work in every build and at any time: nothing is recorded
 * for them beforehand.
 */
#ifndef COIL_DEBUG_H
#define COIL_DEBUG_H

#include <coil/task.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a task waits for. */
typedef struct coil_waiting {
    /*
     * "future", "task", "shield", "gather", "wait", "sleep", "park", "group", "lock",
     * "promise", "event", "condition", "semaphore", "queue.get", "queue.put",
     * "queue.join", "queue.get_any", "channel.get", "channel.put", "group.spawn", "read",
     * "write", "accept", "connect", "wait_fd", "poll",
     * "blocking.dns" (look-ups), "blocking.file", "blocking.cpu"; of files also "open",
     * "close", "stat", "fsync" and others called as in coil/file.h and coil/path.h, and
     * "file.close" (for the calls in it).
     */
    const char *what;
    const void *object;  /* the lock, event, queue, group...; NULL if there is none */
    coil_future *future; /* borrowed: the future, the first that is not done if there are
                            several; NULL if there is none */
    int64_t deadline;    /* when the wait ends by itself: a sleep's, coil_wait()'s; else
                            COIL_NEVER. Deadlines of scopes are not in here. */
    int64_t since;       /* when it began, a point of coil_now(): that of the last poll
                            before */
    int fd;              /* the descriptor of reading, writing...; else -1 */
} coil_waiting;

/*
 * What the task waits for. False if it does not wait: it runs, is ready to run, or has
 * ended.
 */
COIL_API bool coil_task_waiting(const coil_task *task, coil_waiting *out);

/*
 * Call visit(awaiter, arg) for every task that waits for the future to be done: in
 * coil_await(), coil_shield(), coil_gather(), coil_wait(); and for the owner of the group
 * the task is in. Stops when it returns non-zero, and returns that. It must not spawn or
 * complete anything, and if it would suspend, the program stops. Looks at every task of
 * the loop. (asyncio: FutureCallGraph.awaited_by)
 */
COIL_API int coil_future_awaiters(coil_future *future,
                                  int (*visit)(coil_task *awaiter, void *arg), void *arg);

/* The same as coil_future_awaiters(coil_task_future(task), visit, arg). */
COIL_API int coil_task_awaiters(coil_task *task,
                                int (*visit)(coil_task *awaiter, void *arg), void *arg);

/*
 * The return addresses of the functions that a task stands in, innermost first, at most n
 * of them; returns how many. The running task's begin with the caller. One that waits is
 * looked at where it is: nothing of its stack is used. Generators that it stands in
 * are part of it; what lies between coil's waiting functions and the switch is left out.
 * (asyncio: Task.get_stack)
 *
 * 0 for a task that has not begun, or has ended. -ENOSPC if less than 8 KiB of the
 * caller's own stack are left.
 */
COIL_API int coil_task_backtrace(coil_task *task, void *addresses[], int n);

/* The address behind the call that spawned it; NULL for one that coil itself did. */
COIL_API const void *coil_task_spawned_at(const coil_task *task);

/* ---- debug mode -------------------------------------------------------------------- */

/*
 * In debug mode each step of a task, each callback and each poll of the current loop is
 * timed, and what takes 100 ms or longer is reported to the exception handler: its name,
 * who spawned it or, if debug mode was on by then, asked for it, how long it took, and
 * where it stood: a thread that only debug mode has looks at it meanwhile, and names what
 * has not ended after a second on standard error. On from the beginning with COIL_DEBUG=1
 * in the environment, or coil_loop_opts.debug. Each turn polls, and each step takes two
 * looks at the clock and at a lock; else nothing changes.
 * Without a loop it stops the program, as does the next but one. (asyncio:
 * loop.set_debug)
 */
COIL_API void coil_set_debug(bool on);

/*
 * What was made in debug mode and is still there when its loop closes is named to the
 * exception handler, each with the line that made it: streams, listeners, datagram
 * sockets, files and processes that were not destroyed, executors likewise, timers that
 * are started, readers and writers, references to tasks that were not released. What is
 * destroyed after that is named all the same.
 */

/* True if the thread has a loop, and that is in debug mode. (asyncio: loop.get_debug) */
COIL_API bool coil_debug(void);

/* How long is slow. (asyncio: loop.slow_callback_duration) */
COIL_API void coil_set_slow_callback_ns(int64_t ns);

/*
 * Watch this thread's loop until it closes. If a step of a task, or a callback, has waited
 * for a lock (a futex) for five seconds, its place is printed on standard error. It has
 * blocked the thread; if another task of the thread holds the lock, for good. libcoil-posix
 * calls this for each loop whose tasks wait in it. Meanwhile the process has one more
 * thread, which looks at its loops once a second. Without a loop it aborts.
 */
COIL_API void coil_watch_locks(void);

/* ---- what must not wait ------------------------------------------------------------ */

/* The caller's memory; all fields are coil's own. */
typedef struct coil_no_suspend {
    void *private_[4];
} coil_no_suspend;

/*
 * From here to the exit the running task must not wait: if it would, the program stops,
 * with `why` (kept, not copied), where it was entered, and what it would have waited for.
 * For code that relies on nothing else running meanwhile. Calls that need not wait return
 * as ever. Regions close last in, first out, in the function or task that opened them;
 * they may be entered where nothing can wait anyhow.
 */
COIL_API void coil_no_suspend_enter(coil_no_suspend *region, const char *why);
COIL_API void coil_no_suspend_exit(coil_no_suspend *region);

/*
 * True where a call may wait: a task runs, and is in no region where it must not. For
 * code that does one thing in tasks and another elsewhere.
 */
COIL_API bool coil_may_suspend(void);

/*
 * True if a call that returns to this address is one that coil itself made of the C
 * library. For what stands before the C library, as libcoil-posix does, and must tell
 * coil's own calls from its caller's: __builtin_return_address(0) is what it asks with.
 * Any thread, and signal handlers.
 */
COIL_API bool coil_is_own_call(const void *return_address);

/* ---- numbers ----------------------------------------------------------------------- */

typedef struct coil_stats {
    uint64_t turns;   /* of the loop, since it was created */
    uint64_t polls;   /* turns that began with one; the others needed none */
    uint64_t runs;    /* callbacks called, and steps of tasks */
    uint64_t spawned; /* tasks */
    /* Reads, writes, accepts and so on, a call perhaps in several; and those of them that
       had to wait: on io_uring most, for the next poll. The others were done at once. */
    uint64_t operations, operations_waited;
    size_t tasks;  /* that have not ended */
    size_t timers; /* that run: sleeps, deadlines, callbacks to come */
    /*
     * Light tasks of the thread that have not been freed; those of them whose stacks are
     * put away; the memory of these, control blocks not counted; and of the stacks that
     * are not.
     */
    size_t light_tasks, light_stored, light_stored_bytes, light_resident_bytes;
    /* Why light tasks are ordinary ones here, in some words; NULL: they are light. */
    const char *light_off;
} coil_stats;

/* What the current loop has done until now. Without one it stops the program. */
COIL_API void coil_stats_get(coil_stats *out);

/* ---- for people -------------------------------------------------------------------- */

/*
 * Print a future, or with NULL the running task: if it is a task, where it stands; then
 * who awaits it, and so on outwards. What is awaited by several is told of once; tasks
 * that await each other in a circle are shown to. (asyncio: print_call_graph)
 */
COIL_API void coil_print_call_graph(coil_future *future, FILE *out);

/*
 * Print all tasks of this thread's loop as a tree: below each the tasks in its groups and
 * those it awaits. For each what it waits for and how long, who spawned it, and where it
 * stands. coil_run() does so on SIGQUIT: Ctrl-\. Like coil_print_call_graph() it does not
 * suspend: if `out` is of fopencookie(3) and its function would, the program stops.
 *
 * With COIL_REPORTS=json in the environment these two, coil_error_print() and all reports
 * to standard error print an object of JSON on a line: docs/manual/debug.md.
 */
COIL_API void coil_dump(FILE *out);

#ifdef __cplusplus
}
#endif

#endif
