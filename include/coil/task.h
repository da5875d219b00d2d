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
 * Another task spawns this function as a task and waits until that task ends:
 *
 *     coil_task *task;
 *     int rc = coil_spawn(hello, "world", NULL, &task);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_task_await(task);
 *     coil_task_release(task);
 *
 * A task is a coroutine, run by the loop of its thread, together with a future for its
 * result. The body of a task is an ordinary C function, which may call any other
 * function. If such a function waits, the task waits. Other tasks run only during calls
 * of functions that are marked COIL_SUSPENDS. (asyncio: Task)
 *
 * CANCELLATION is an error return: after coil_task_cancel(), the call in which the task
 * waits, or its next call that would wait, returns -ECANCELED. If the task awaits another
 * task or a future, that task or future is cancelled, too. From then on every call that
 * would wait returns -ECANCELED, after one turn of the loop, until the body returns or
 * calls coil_cancel_caught(), which corresponds to Python's `except CancelledError`. coil
 * also counts the requests (coil_task_cancelling()): each request increments the count,
 * and only coil_uncancel() decrements it. Cleanup that needs to wait uses a shielded
 * scope (coil/scope.h). coil never kills a task.
 *
 * A call that need not wait returns its result, even while a cancellation is pending or
 * was delivered. Calls on files, jobs on threads, coil_connect() and coil_yield() always
 * wait. Calls that do I/O also make the task yield after 64 operations or 256 KiB without
 * a wait. (docs/decisions/0008-a-call-that-need-not-wait.md)
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
 * A task's body. A return value of 0 or more is the task's result. If the body returns
 * -ECANCELED, the task ends as cancelled; any other negative errno is a failure.
 *
 * If a cancellation was requested but not yet delivered when the body returns 0 or more,
 * the task ends as cancelled, as in asyncio.
 */
typedef int (*coil_task_fn)(void *arg);

/* Whether the task's stack may be swapped out while it waits: docs/manual/light.md. */
enum coil_light {
    COIL_LIGHT_AS_RUN, /* depends on coil_run_opts.light */
    COIL_LIGHT,
    COIL_NOT_LIGHT
};

typedef struct coil_spawn_opts {
    const char *name;   /* copied; NULL means "task-N" */
    size_t stack_bytes; /* 0 means COIL_STACK_BYTES; see coil_task_stack_peak() */
    /*
     * Copy this many bytes of *arg onto the task's stack, and pass a pointer to the copy.
     * At most 2048; with 0, `arg` itself is passed.
     */
    size_t arg_bytes;
    bool eager; /* run inside coil_spawn() until the first wait: see coil_spawn() */
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
     * Deliver a cancellation only to calls of coil's own functions, not to calls that
     * wait through libcoil-posix. Use this flag for libraries that treat ECANCELED as a
     * bug.
     */
    bool hold_cancel;
    /*
     * COIL_LIGHT: the stack may be swapped out while the task waits. While it is swapped
     * out, the task takes 1 KB of memory instead of 4 KB. The caller guarantees that
     * while the task waits, no other thread or system call accesses its stack.
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
 * first step never runs its body, as in asyncio. So the spawner must free the resources
 * that it passes in `arg` if the body never runs. Prefer coil_group_spawn() for tasks
 * that do part of another task's work. Fails with -ENOMEM, or with -EINVAL (arg_bytes,
 * stack_bytes, hooks).
 *
 * With opts->eager the task runs inside coil_spawn(), which returns when the task first
 * waits or ends. A task that ends without waiting never enters the ready queue. Inside
 * coil_spawn() the eager task is the running task, and *out is already set. The spawner
 * does not suspend, so no other task runs during the call. A callback may also spawn an
 * eager task. `eager` has no effect before the loop runs. (asyncio: eager_task_factory)
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
 * Return the peak stack usage of the task so far, in bytes, rounded up to whole pages.
 *
 * Set stack_bytes to this value plus a reserve. The task may be running, waiting, or have
 * ended. Does not suspend. Call this function on the task's own thread.
 *
 * Fails with -EAGAIN if an earlier task has used the same stack, or if the task has ended
 * and its pages were returned. Both can happen only to tasks that already existed at the
 * first call of this function on the thread. From then on, coil clears each stack before
 * a task gets it, and measures the stack when the task ends. This costs one or two system
 * calls for each task. Pages that the kernel has swapped out are not counted. If memory
 * is locked (mlockall(2)), all pages count.
 */
COIL_API ssize_t coil_task_stack_peak(const coil_task *task);

/*
 * Return the bounds of the task's stack: its lowest byte, and the byte after its highest.
 * A conservative garbage collector can use the bounds to scan the stack from the stack
 * pointer up.
 *
 * The bounds are valid until the task ends. Call this function on the task's own thread.
 * While the stack of a light task is swapped out (docs/manual/light.md), the collector
 * does not find the pointers on it.
 */
COIL_API void coil_task_stack(const coil_task *task, void **low, void **high);

/*
 * Arrange for the running task to call fn(arg) after its body has returned. Deferred
 * calls run in reverse order of their registration.
 *
 * Use deferred calls for cleanup that must always run, whichever nested function
 * registered it. `fn` may suspend and may defer more calls. Deferred calls do not change
 * the task's rc. A delivered cancellation remains in effect, so a deferred call that
 * needs to wait should use a shielded scope. Fails with -ENOMEM. Aborts outside a task.
 */
COIL_API COIL_CHECKED int coil_defer(void (*fn)(void *arg), void *arg);

/* ---- waiting ----------------------------------------------------------------------- */

/*
 * Let all other ready tasks and callbacks run. Returns 0 or -ECANCELED. (asyncio:
 * sleep(0))
 *
 * A task that computes for a long time should call coil_yield() regularly. Each turn of
 * the loop runs one step of every ready task. Between two turns the loop polls for I/O
 * and timers if the last poll was at least 250 us ago, so I/O is delayed by one or two
 * turns. If turns suddenly become longer, the loop may notice this only after up to 64
 * turns.
 */
COIL_SUSPENDS int coil_yield(void);

/*
 * Wait `delay_ns` nanoseconds; 0 or less has the same effect as coil_yield(). (asyncio:
 * sleep)
 *
 * Returns 0, or -ECANCELED if the task is cancelled; in that case its timer is removed.
 * The call cannot fail otherwise, because the memory for the timer was allocated with the
 * task.
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
 * withdraw its request to be unparked. If the task was already unparked and given an
 * item, the caller must pass the item on.
 */
COIL_SUSPENDS int coil_park(void);

/*
 * Wake a parked task: its coil_park() returns `rc` in the next turn of the loop.
 *
 * Never allocates. Returns 0, or -EALREADY if the task is not in coil_park(), or if this
 * coil_park() was already cancelled or unparked.
 */
COIL_API int coil_unpark(coil_task *task, int rc);

/* ---- cancellation ------------------------------------------------------------------ */

/*
 * Request that the task end. Never allocates. (asyncio: Task.cancel)
 *
 * Returns true if the request was recorded. The task decides whether and when it ends.
 * Returns false if the task has already ended; if it failed, the failure now counts as
 * retrieved. Also returns false if the task was abandoned by its closing loop. A task
 * that cancels itself is cancelled at its next call that would wait. `reason` is not
 * copied and must stay valid; NULL is allowed. If tasks await each other in a cycle,
 * which can never end, the program aborts.
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
 * Use this function to turn a failure that was caused by a cancellation back into
 * -ECANCELED. Some libraries, for example under libcoil-posix, translate ECANCELED or
 * EINTR into errors of their own. Pass such an error, as a negative number, to this
 * function before the task returns it. Outside tasks the result is rc.
 */
COIL_API int coil_cancel_result(int rc);

/*
 * Return how many calls of the running task have failed with -ECANCELED, instead of
 * waiting, since the cancellation was delivered. The count stops at 1,000. Returns 0 if
 * the task was not cancelled, if it has caught the cancellation, and outside tasks.
 *
 * If a library that does not use coil ignores errors in a loop, a cancelled task may
 * never leave that loop. Code that waits on behalf of such a library can detect this with
 * coil_cancel_refusals().
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
 * Return the reason for the latest request to cancel the running task. If there has been
 * none, but the task has awaited a future that was cancelled, return the reason that was
 * given for cancelling that future (if there were several, the one awaited last). May be
 * NULL.
 */
COIL_API const char *coil_cancel_reason(void);

/*
 * The origin of a cancellation. A cancellation that is passed on along a chain of
 * awaiting tasks keeps the origin of the first request.
 */
typedef struct coil_cancel_origin {
    const char *reason; /* the reason given, or NULL; "deadline" for a scope */
    /*
     * The name of the requesting task at the time of the request. For a group, the name
     * of the child that failed; for a callback or a scope, "".
     */
    char task[32];
    /*
     * The address of the code that made the request; for a scope or a group, of the code
     * that opened it. addr2line(1) converts the address to a source line.
     */
    const void *address;
} coil_cancel_origin;

/*
 * Return the origin of the latest request to cancel the task. The request may have been
 * withdrawn, and the task may have ended.
 *
 * Returns false, and leaves *out unchanged, if the task was never cancelled.
 */
COIL_API bool coil_task_cancel_origin(const coil_task *task, coil_cancel_origin *out);

#ifdef __cplusplus
}
#endif

#endif
