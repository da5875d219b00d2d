/*
 * coil/debug.h - inspect the program's tasks: why, where and since when each of them
 * waits.
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
 * Call show() for each task of the loop:
 *
 *     coil_task_each(show, NULL);
 *
 * No function here suspends. All functions work in every build and at any time, without
 * any preparation.
 */
#ifndef COIL_DEBUG_H
#define COIL_DEBUG_H

#include <coil/task.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The reason for a task's wait. */
typedef struct coil_waiting {
    /*
     * The kind of wait, which is one of the following:
     *
     * "future", "task", "shield", "gather", "wait", "sleep", "park", "group",
     * "group.spawn", "lock", "promise", "event", "condition", "semaphore", "queue.get",
     * "queue.put", "queue.join", "queue.get_any", "channel.get", "channel.put", "read",
     * "write", "accept", "connect", "wait_fd", "poll", "blocking.dns" (name lookups),
     * "blocking.file", "blocking.cpu".
     *
     * Calls on files have further kinds: "open", "close", "stat", "fsync" and so on,
     * named after the functions in coil/file.h and coil/path.h. "file.close" means that
     * coil_file_close() is waiting for calls in progress.
     */
    const char *what;
    const void *object; /* the lock, event, queue, group, ... or NULL */
    /*
     * The future for which the task waits, borrowed; of several futures, the first one
     * that is not done. NULL for other waits.
     */
    coil_future *future;
    /*
     * The time at which the wait ends even without an event, as set by coil_sleep() or
     * coil_wait(); otherwise COIL_NEVER. Deadlines of scopes are not included.
     */
    int64_t deadline;
    int64_t since; /* value of coil_now() at the last poll before the wait */
    int fd;        /* the descriptor, if the wait is for I/O; otherwise -1 */
} coil_waiting;

/*
 * Store the reason for the task's wait in *out, and return true. Returns false if the
 * task is not waiting: it is running, ready to run, or has ended.
 */
COIL_API bool coil_task_waiting(const coil_task *task, coil_waiting *out);

/*
 * Call visit(awaiter, arg) for every task that is waiting for the future. (asyncio:
 * FutureCallGraph.awaited_by)
 *
 * The awaiters are tasks that are waiting in coil_await(), coil_shield(), coil_gather()
 * or coil_wait(). If the future is a task in a group, the group's owner is an awaiter,
 * too. Stops when `visit` returns non-zero, and returns that value. `visit` must not
 * spawn tasks or complete futures. The program aborts if `visit` would suspend. The call
 * examines every task of the loop.
 */
COIL_API int coil_future_awaiters(coil_future *future,
                                  int (*visit)(coil_task *awaiter, void *arg), void *arg);

/* coil_future_awaiters(coil_task_future(task), visit, arg). */
COIL_API int coil_task_awaiters(coil_task *task,
                                int (*visit)(coil_task *awaiter, void *arg), void *arg);

/*
 * Store the call stack of a task in `addresses`: at most n return addresses, innermost
 * first. Returns the number of addresses. (asyncio: Task.get_stack)
 *
 * The stack of the running task begins with the caller of this function. The stack of a
 * waiting task is read without running the task. It includes the frames of generators in
 * which the task runs, but not coil's own frames inside the waiting function.
 *
 * Returns 0 for a task that has not begun or has ended. Fails with -ENOSPC if less than 8
 * KiB of the caller's stack is left.
 */
COIL_API int coil_task_backtrace(coil_task *task, void *addresses[], int n);

/*
 * Return the return address of the call that spawned the task, or NULL if coil itself
 * spawned the task.
 */
COIL_API const void *coil_task_spawned_at(const coil_task *task);

/* ---- debug mode -------------------------------------------------------------------- */

/*
 * Switch debug mode of the current loop on or off. Aborts if the thread has no loop. (asyncio:
 * loop.set_debug)
 *
 * Debug mode measures each step of a task, each callback and each poll. A step of 100 ms
 * or longer is reported to the exception handler, with its name, its duration and the
 * code that was running. The report also names the code that spawned the task or
 * requested the callback (for a callback, only if debug mode was already on at the time).
 * To find the code that was running, an additional thread samples the position of the
 * loop's thread. That thread also prints a message on standard error if a step takes
 * longer than a second.
 *
 * COIL_DEBUG=1 in the environment, or coil_loop_opts.debug, switches debug mode on from
 * the beginning. In debug mode each turn of the loop polls, and each step reads the clock
 * twice and takes a lock twice. Nothing else changes.
 */
COIL_API void coil_set_debug(bool on);

/*
 * When a loop closes, each object that was created in debug mode and still exists is
 * reported to the loop's exception handler. The report names the line that created the
 * object. These objects are streams, listeners, datagram sockets, files, processes,
 * executors, started timers, readers and writers, and unreleased references to tasks. An
 * object is reported even if the program would destroy it later.
 */

/* True if the thread has a loop in debug mode. (asyncio: loop.get_debug) */
COIL_API bool coil_debug(void);

/*
 * Set the duration above which a step counts as slow. Aborts if the thread has no loop. (asyncio:
 * loop.slow_callback_duration)
 */
COIL_API void coil_set_slow_callback_ns(int64_t ns);

/*
 * Watch this thread's loop, until it closes, for locks that block the thread. Aborts if
 * the thread has no loop.
 *
 * If a task or a callback has blocked its thread in a wait for a lock (a futex) for five
 * seconds, the position of that task or callback is printed on standard error. Such a
 * wait never ends if another task of the same thread holds the lock. If all threads of
 * the process are waiting for locks without a timeout, the program aborts after three
 * seconds, unless a signal handler or another process might release a lock.
 *
 * libcoil-posix calls this function in each loop whose tasks wait through libcoil-posix.
 * While any loop is watched, the process has one additional thread, which examines the
 * loops once a second.
 */
COIL_API void coil_watch_locks(void);

/* Allocated by the caller; all members are private to coil. */
typedef struct coil_lock_wait {
    void *private_[4];
} coil_lock_wait;

/* Flags of coil_lock_wait_begin(). */
enum {
    COIL_LOCK_WAIT_OUTSIDE = 1, /* another process may release the lock */
    COIL_LOCK_WAIT_AGAIN = 2    /* continues a wait that ended spuriously */
};

/*
 * Mark the beginning and the end of a task's wait for a lock. Between the two calls, the
 * only timer that the task may use is one that wakes it to check the lock again. Both
 * functions abort if the thread has no loop.
 *
 * If all tasks of the loop are waiting, and all its timers are of this kind, the loop is
 * stuck unless code outside the loop releases a lock. If another thread, another process
 * or a signal handler might release a lock, the wait is reported once on standard error,
 * after five seconds, and the loop continues. Otherwise the loop reports a deadlock once
 * every task has checked its lock again: coil_run() returns -EDEADLK, as if the loop had
 * no timers.
 *
 * The report names the library that contains the address `caller`, which may be NULL.
 * libcoil-posix calls these functions. Any number of waits may be open at once, and they
 * may end in any order.
 */
COIL_API void coil_lock_wait_begin(coil_lock_wait *wait, const void *caller,
                                   unsigned flags);
COIL_API void coil_lock_wait_end(coil_lock_wait *wait);

/*
 * Record that the task woke up during the wait, checked the lock, and continues to wait.
 */
COIL_API void coil_lock_wait_checked(coil_lock_wait *wait);

/*
 * End a wait with a spurious wake-up, after which the caller of the waiting function
 * checks its condition again.
 *
 * If the caller waits for the same condition again in the same step, begin that wait with
 * COIL_LOCK_WAIT_AGAIN. The loop then treats the two waits as a single wait, during which
 * the lock was checked.
 */
COIL_API void coil_lock_wait_lapse(coil_lock_wait *wait);

/*
 * Declare that the calling thread will never release a lock, because it only wakes tasks
 * that are waiting for locks. A deadlock is reported in spite of such threads.
 * libcoil-posix calls this function.
 */
COIL_API void coil_lock_helper(void);

/* ---- code that must not wait ------------------------------------------------------- */

/* Allocated by the caller; all members are private to coil. */
typedef struct coil_no_suspend {
    void *private_[4];
} coil_no_suspend;

/*
 * Begin or end a region of code in which the running task must not wait. If a call inside
 * the region would wait, the program aborts. The message contains `why` (not copied), the
 * place where the region was entered, and the object for which the task would wait.
 *
 * Use a region for code that must not be interleaved with other tasks. Calls that need
 * not wait work as usual. Regions must be exited in reverse order, by the callback or
 * task that entered them. A callback, which cannot wait at all, may enter a region, too.
 */
COIL_API void coil_no_suspend_enter(coil_no_suspend *region, const char *why);
COIL_API void coil_no_suspend_exit(coil_no_suspend *region);

/*
 * True if a call may wait here: a task is running, and it is not in a coil_no_suspend
 * region. Use this function in code that behaves differently inside and outside tasks.
 */
COIL_API bool coil_may_suspend(void);

/*
 * True if the caller runs on the stack of the running task: not on a generator's stack,
 * nor on the alternate stack of a signal handler (sigaltstack(2)). May be called on any
 * thread, and in signal handlers.
 */
COIL_API bool coil_on_task_stack(void);

/*
 * True if `return_address` is in coil's code: coil itself made the call that will return
 * to this address. May be called on any thread, and in signal handlers.
 *
 * Libraries that replace functions of the C library, such as libcoil-posix, pass
 * __builtin_return_address(0), to distinguish coil's calls from those of other code.
 */
COIL_API bool coil_is_own_call(const void *return_address);

/* ---- statistics -------------------------------------------------------------------- */

typedef struct coil_stats {
    uint64_t turns;   /* turns of the loop since its creation */
    uint64_t polls;   /* turns of the loop that polled; the others skipped it */
    uint64_t runs;    /* number of callbacks and steps of tasks that have run */
    uint64_t spawned; /* tasks that were spawned */
    /*
     * Reads, writes, accepts and so on; one call may need several operations.
     * `operations_waited` counts the operations that had to wait; all others completed
     * immediately. On io_uring most operations wait for the next poll.
     */
    uint64_t operations, operations_waited;
    size_t tasks;  /* tasks that have not ended */
    size_t timers; /* started timers: sleeps, deadlines, delayed callbacks */
    /*
     * `light_tasks` is the number of the thread's light tasks that are not freed yet, and
     * `light_stored` is how many of their stacks are swapped out. `light_stored_bytes` is
     * the size of the swapped-out stacks without control blocks, and
     * `light_resident_bytes` the size of the stacks in memory.
     */
    size_t light_tasks, light_stored, light_stored_bytes, light_resident_bytes;
    /*
     * A short text that says why this loop creates ordinary tasks instead of light tasks;
     * NULL if light tasks work.
     */
    const char *light_off;
} coil_stats;

/* Return the counters of the current loop. Aborts if the thread has no loop. */
COIL_API void coil_stats_get(coil_stats *out);

/* ---- printed reports --------------------------------------------------------------- */

/*
 * Print the stack of a task, then the stacks of the tasks that await it, then the stacks
 * of their awaiters, and so on. (asyncio: print_call_graph)
 *
 * `future` may be any future; NULL means the running task. A task with several awaiters
 * is printed once. Cycles of tasks that await each other are detected and marked.
 */
COIL_API void coil_print_call_graph(coil_future *future, FILE *out);

/*
 * Print all tasks of this thread's loop as a tree. Below each task are the tasks in its
 * groups and the tasks that it awaits. For each task, print the reason and duration of
 * its wait, the code that spawned it, and its call stack.
 *
 * coil_run() prints this tree on SIGQUIT: Ctrl-\. coil_dump() and coil_print_call_graph()
 * do not suspend. If `out` comes from fopencookie(3) and its write function would
 * suspend, the program aborts.
 *
 * With COIL_REPORTS=json in the environment, this function, coil_print_call_graph(),
 * coil_error_print() and all reports to standard error print one JSON object per line:
 * docs/manual/debug.md.
 */
COIL_API void coil_dump(FILE *out);

#ifdef __cplusplus
}
#endif

#endif
