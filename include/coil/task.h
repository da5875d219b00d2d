/*
 * coil/task.h - tasks: functions that run concurrently and may wait.
 *
 *     static int hello(void *arg)
 *     {
 *         int rc = coil_sleep(COIL_SEC(1));
 *
 *         if (rc < 0)
 *             return rc;              // cancelled
 *         printf("hello, %s\n", (char *)arg);
 *         return 0;
 *     }
 *
 * Another task spawns it and waits until it ends:
 *
 *     coil_task *task;
 *     int rc = coil_spawn(hello, "world", NULL, &task);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_task_await(task);
 *     coil_task_release(task);
 *
 * A task is a coroutine that the loop of its thread runs, together with a future for its
 * result. The body of a task is an ordinary C function, which may call any other
 * function. If such a function waits, the task waits. Other tasks run only while the task
 * is inside a function that is marked COIL_SUSPENDS. (asyncio: Task)
 *
 * CANCELLATION is an error return. coil_task_cancel() delivers it to the call in which
 * the task waits, or to its next call that would wait. That call returns -ECANCELED. If
 * the task awaits another task or a future, that task or future is cancelled, too. From
 * then on every call that would wait returns -ECANCELED, after one turn of the loop. This
 * lasts until the body returns, or calls coil_cancel_caught(), which corresponds to
 * Python's `except CancelledError`. coil also counts the requests:
 * coil_task_cancelling(). Each cancellation raises the count, and only coil_uncancel()
 * lowers it. Cleanup that must wait does so in a shielded scope (coil/scope.h). A task is
 * never killed.
 *
 * A call that need not wait returns its result, even while a cancellation is pending or
 * was delivered. Calls on files, jobs on threads, coil_connect() and coil_yield() always
 * wait. A call that does I/O also yields to other tasks after 64 operations or 256 KiB
 * without a wait. (docs/decisions/0008-a-call-that-need-not-wait.md)
 */
#ifndef COIL_TASK_H
#define COIL_TASK_H

#include <coil/context.h>
#include <coil/future.h>
#include <coil/hooks.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_task coil_task;

/*
 * A task's body. A return value of 0 or more is the task's result. -ECANCELED ends the
 * task cancelled, and any other negative errno is its failure.
 *
 * If a cancellation was requested but not yet delivered when the body returns 0 or more,
 * the task ends cancelled, as in asyncio.
 */
typedef int (*coil_task_fn)(void *arg);

/* Whether the task's stack may be swapped out while it waits: docs/manual/light.md. */
enum coil_light {
    COIL_LIGHT_AS_RUN, /* as coil_run_opts.light specifies */
    COIL_LIGHT,
    COIL_NOT_LIGHT
};

typedef struct coil_spawn_opts {
    const char *name;   /* copied; NULL means "task-N" */
    size_t stack_bytes; /* 0 means COIL_STACK_BYTES; see coil_task_stack_peak() */
    /*
     * Copy this many bytes of *arg onto the task's stack, and pass a pointer to the copy.
     * At most 2048; 0 means pass `arg` itself.
     */
    size_t arg_bytes;
    bool eager; /* begin to run inside coil_spawn(), as described below */
    /*
     * The task shares this context; NULL means a copy of the spawner's. (asyncio:
     * context=)
     */
    coil_context *context;
    /*
     * A NULL-terminated array, not copied; NULL means the spawner's hooks. See
     * coil/hooks.h.
     */
    const coil_task_hooks *const *hooks;
    /*
     * If other libraries wait through libcoil-posix, delay a cancellation until the task
     * waits in a call of coil's own. Use this flag for libraries that treat ECANCELED as
     * a bug.
     */
    bool hold_cancel;
    /*
     * COIL_LIGHT: the stack may be swapped out while the task waits. The task then takes
     * 1 KB of memory instead of 4. The caller promises that while the task waits, no
     * other thread and no system call uses a pointer to its stack.
     */
    enum coil_light light;
} coil_spawn_opts;

/*
 * Start a task, which the loop owns: fn(arg) begins in the next turn. (asyncio:
 * create_task)
 *
 * *out receives a reference, which the caller releases; `out` may be NULL. Releasing it
 * neither stops nor frees a running task: the loop holds its own reference. `arg` must
 * outlive the task unless opts->arg_bytes is set. A task that is cancelled before its
 * first step never runs its body, as in asyncio. So the spawner must remain able to free
 * resources that it passes in `arg`. If the task does part of another task's work, prefer
 * coil_group_spawn(). Fails with -ENOMEM, -EINVAL (arg_bytes, stack_bytes, hooks).
 *
 * With opts->eager the task runs inside coil_spawn(), which returns when the task first
 * waits or ends. A task that ends there never enters the ready queue. Inside coil_spawn()
 * the eager task is the running task, and *out is already set. The spawner does not
 * suspend, so no other task runs meanwhile. A callback may spawn an eager task, too;
 * before the loop runs, `eager` has no effect. (asyncio: eager_task_factory)
 */
COIL_API COIL_CHECKED int coil_spawn(coil_task_fn fn, void *arg,
                                     const coil_spawn_opts *opts, coil_task **out);

/* Add a reference, to be dropped with coil_task_release(). Returns the task. */
COIL_API coil_task *coil_task_retain(coil_task *task);

/* Drop a reference; NULL is accepted. See coil_future_release(). */
COIL_API void coil_task_release(coil_task *task);

/* Return the task as a future, borrowed. */
COIL_API coil_future *coil_task_future(coil_task *task);

/* Wait for the task and return its rc: coil_await(coil_task_future(task)). */
COIL_SUSPENDS int coil_task_await(coil_task *task);

/*
 * Return the running task, borrowed; NULL in a callback or outside the loop. (asyncio:
 * current_task)
 */
COIL_API coil_task *coil_task_current(void);

/*
 * Call visit(task, arg) for every task of this thread's loop that has not ended, oldest
 * first. (asyncio: all_tasks)
 *
 * Stops when `visit` returns non-zero, and returns that value. `visit` must not spawn a
 * task or release the last reference to one. The program aborts if `visit` would suspend.
 */
COIL_API int coil_task_each(int (*visit)(coil_task *task, void *arg), void *arg);

/*
 * Return the task's name, never NULL. The string is valid until the task is renamed or
 * freed. (asyncio: get_name)
 */
COIL_API const char *coil_task_name(const coil_task *task);

/* Rename the task. The name is copied: at most 31 bytes, or 15 if memory is short. */
COIL_API void coil_task_set_name(coil_task *task, const char *name);

/*
 * Return the maximum number of bytes of its stack that the task has used so far, in whole
 * pages.
 *
 * Set stack_bytes to this value plus a reserve. The task may be running, waiting, or have
 * ended. Does not suspend. Call this function on the task's own thread.
 *
 * Fails with -EAGAIN if an earlier task has used the same stack, or if the task has ended
 * and its pages were returned. This can happen only to tasks that existed before the
 * first call on the thread. From the first call on, coil cleans each stack before a task
 * gets it, and measures it when the task ends, with one or two system calls for each
 * task. Pages that the kernel has swapped out are not counted. If memory is locked
 * (mlockall(2)), all pages count.
 */
COIL_API ssize_t coil_task_stack_peak(const coil_task *task);

/*
 * Return the bounds of the task's stack: its lowest byte, and the byte after its highest.
 * The bounds are for a conservative garbage collector, which scans the stack from the
 * stack pointer up.
 *
 * The bounds are valid until the task ends. Call this function on the task's own thread.
 * The stack of a waiting light task may be swapped out (docs/manual/light.md). The
 * collector does not scan a stack that is swapped out.
 */
COIL_API void coil_task_stack(const coil_task *task, void **low, void **high);

/*
 * Call fn(arg) after the body of the running task has returned, in that task. Calls are
 * made in reverse order of coil_defer().
 *
 * Use deferred calls for cleanup that must always run, whichever nested function
 * registered it. `fn` may suspend and may defer more calls. The task's rc stays as it is.
 * A delivered cancellation still applies, so cleanup that must wait uses a shielded
 * scope. Fails with -ENOMEM. Aborts outside a task.
 */
COIL_API COIL_CHECKED int coil_defer(void (*fn)(void *arg), void *arg);

/* ---- waiting ----------------------------------------------------------------------- */

/*
 * Let all other ready tasks and callbacks run. Returns 0 or -ECANCELED. (asyncio:
 * sleep(0))
 *
 * A task that computes for a long time should call coil_yield() regularly. Each turn of
 * the loop runs one step of every ready task. Between two turns the loop polls for I/O
 * and timers if the last poll was at least 250 us ago. If a turn takes that long, the
 * loop polls after every turn. So I/O is delayed by one or two turns. If turns suddenly
 * become long, the loop may need up to 64 turns to notice this.
 */
COIL_SUSPENDS int coil_yield(void);

/*
 * Wait `delay_ns` nanoseconds; 0 or less is coil_yield(). (asyncio: sleep)
 *
 * Returns 0, or -ECANCELED if the task is cancelled; in that case its timer is removed.
 * No other failure is possible, because each task is created with memory for a timer.
 */
COIL_SUSPENDS int coil_sleep(int64_t delay_ns);

/* Wait until coil_now() reaches `deadline`. */
COIL_SUSPENDS int coil_sleep_until(int64_t deadline);

/*
 * Suspend the running task until other code calls coil_unpark() for it, and return the rc
 * that was passed to coil_unpark().
 *
 * Use parking to build new primitives: store coil_task_current(), park, and let a
 * callback, a reader or another task unpark it. Returns -ECANCELED if the task is
 * cancelled before it runs again, even if it was already unparked. The caller must then
 * withdraw its request to be unparked. If the code that unparked the task has already
 * given it an item, the caller must pass the item on.
 */
COIL_SUSPENDS int coil_park(void);

/*
 * Make a parked task ready: its coil_park() returns `rc` in the next turn.
 *
 * Never allocates. Returns 0, or -EALREADY if the task is not in coil_park(), or if this
 * coil_park() was already cancelled or unparked.
 */
COIL_API int coil_unpark(coil_task *task, int rc);

/* ---- cancellation ------------------------------------------------------------------ */

/*
 * Request that the task ends. Never allocates. (asyncio: Task.cancel)
 *
 * Returns true if the request was recorded. The task decides whether and when it ends.
 * Returns false if the task has ended; its failure then counts as retrieved. Also returns
 * false if the task's loop is closing and has abandoned the task. A task that cancels
 * itself is cancelled at its next call that would wait. `reason` is not copied and must
 * stay valid; NULL is allowed. Tasks that await each other in a cycle can never end: the
 * program aborts if it finds such a cycle.
 */
COIL_API bool coil_task_cancel(coil_task *task, const char *reason);

/*
 * Return the number of cancellation requests that have not been withdrawn. (asyncio:
 * cancelling)
 */
COIL_API int coil_task_cancelling(const coil_task *task);

/*
 * Withdraw one cancellation request for the running task; return how many remain. If none
 * remains, a cancellation that is not yet delivered is dropped. (asyncio: uncancel)
 */
COIL_API int coil_uncancel(void);

/*
 * Mark the delivered cancellation as handled: later calls of the running task may wait
 * again. (Python: except CancelledError)
 *
 * Does not change the count of requests. Has no effect if no cancellation was delivered.
 */
COIL_API void coil_cancel_caught(void);

/*
 * True if a cancellation was delivered to the running task and not yet caught. A scope's
 * expired deadline counts as a cancellation, too. While the result is true, every call
 * that would wait returns -ECANCELED. False outside tasks.
 */
COIL_API bool coil_cancel_delivered(void);

/*
 * Return -ECANCELED if rc is a failure and coil_cancel_delivered() is true, else rc.
 *
 * Use this function to find out whether a failure was caused by a cancellation. Some
 * libraries, for example under libcoil-posix, translate ECANCELED or EINTR into errors of
 * their own. Before the task returns such an error, as a negative number, pass it to this
 * function. Outside tasks the result is rc.
 */
COIL_API int coil_cancel_result(int rc);

/*
 * Return how many calls of the running task would have waited, and failed with -ECANCELED
 * instead, since a cancellation was delivered. The count stops at 1,000. Returns 0 if the
 * task was not cancelled, if it has caught the cancellation, and outside tasks.
 *
 * Use this function in code that waits on behalf of a library that does not use coil. If
 * that library waits in a loop and ignores errors, its loop may never end.
 */
COIL_API unsigned coil_cancel_refusals(void);

/*
 * True if the running task was spawned with hold_cancel. False outside tasks.
 *
 * If the result is true, code that waits on behalf of a library that does not use coil
 * should wait in a shielded scope.
 */
COIL_API bool coil_cancel_held(void);

/*
 * Return the reason for the latest request to cancel the running task. Without such a
 * request, return the reason for the cancellation of the latest cancelled future that the
 * task awaited. May be NULL.
 */
COIL_API const char *coil_cancel_reason(void);

/*
 * The origin of a cancellation. A cancellation that is passed on along a chain of
 * awaiting tasks keeps the origin of the first request.
 */
typedef struct coil_cancel_origin {
    const char *reason; /* the reason given, or NULL; "deadline" for a scope */
    /*
     * The name, at that time, of the task that made the request. If a group made the
     * request, this is the name of the child that failed; for a callback or a scope it is
     * "".
     */
    char task[32];
    /*
     * The address of the code that made the request. If a scope or a group made the
     * request, this is the code that opened it. addr2line(1) prints the line of the
     * address.
     */
    const void *address;
} coil_cancel_origin;

/*
 * Return the origin of the latest request to cancel the task. The request may have been
 * withdrawn, and the task may have ended.
 *
 * Returns false, and leaves *out unchanged, without such a request.
 */
COIL_API bool coil_task_cancel_origin(const coil_task *task, coil_cancel_origin *out);

#ifdef __cplusplus
}
#endif

#endif
