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
 * Another task spawns it and waits for its end:
 *
 *     coil_task *task;
 *     int rc = coil_spawn(hello, "world", NULL, &task);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_task_await(task);
 *     coil_task_release(task);
 *
 * A task is a coroutine driven by the loop of its thread, and a future of its result. Its
 * body is an ordinary C function, which may call any other; whichever of them waits, the
 * task waits. Control moves only inside functions marked COIL_SUSPENDS. (asyncio: Task)
 *
 * CANCELLATION is an error return. coil_task_cancel() makes the call in which the task
 * waits, or its next one that would wait, return -ECANCELED, and also cancels the task or
 * future that it awaits. From then on every call that would wait returns -ECANCELED,
 * after one turn of the loop, until the body returns or calls coil_cancel_caught(), which
 * is Python's `except CancelledError`. Besides that delivery there is a count of requests, coil_task_cancelling(), which each
 * cancel raises and only coil_uncancel() lowers. Clean-up that must wait does so in a
 * shielded scope (coil/scope.h). A task is never killed.
 *
 * A call that need not wait returns its result, also while a cancellation is due or was
 * delivered. Calls on files, jobs on threads, coil_connect() and coil_yield() always
 * wait. So does a call that does I/O after 64 operations or 256 KiB without a wait: it
 * lets other tasks run. (docs/decisions/0008-a-call-that-need-not-wait.md)
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
 * A task's body: 0 or more is its result, -ECANCELED ends it cancelled, another negative
 * errno is its failure. A cancellation that was requested but not yet delivered when it
 * returns 0 or more ends it cancelled, as in asyncio.
 */
typedef int (*coil_task_fn)(void *arg);

/* Is the task's stack put away while it waits? docs/manual/light.md */
enum coil_light {
    COIL_LIGHT_AS_RUN, /* as coil_run_opts.light says */
    COIL_LIGHT,
    COIL_NOT_LIGHT
};

typedef struct coil_spawn_opts {
    const char *name;      /* copied, as coil_task_set_name(); NULL means "task-N" */
    size_t stack_bytes;    /* 0 means COIL_STACK_BYTES: see coil_task_stack_peak() */
    size_t arg_bytes;      /* copy so many bytes of *arg onto the task's stack, and pass a
                              pointer to the copy; at most 2048 */
    bool eager;            /* begin at once, inside the call: see coil_spawn() */
    coil_context *context; /* the task runs in this one, shared; NULL means in a copy of
                              the spawner's (asyncio: context=) */
    const coil_task_hooks *const *hooks; /* ends with NULL; not copied. NULL means the
                                            spawner's: see coil/hooks.h */
    bool hold_cancel; /* where libcoil-posix makes foreign code wait in this task, a
                         cancellation is held back until the task waits by a call of
                         coil's: for libraries that take ECANCELED for a bug */
    /*
     * COIL_LIGHT: while the task waits its stack may be put away, so that it takes 1 KB of
     * memory instead of 4. The caller promises that meanwhile no other thread and no
     * system call uses a pointer to that stack.
     */
    enum coil_light light;
} coil_spawn_opts;

/*
 * Start a task of the loop's own: fn(arg) begins in the next turn. (asyncio: create_task)
 *
 * *out receives a reference to release; `out` may be NULL. Releasing it neither stops nor
 * frees a task that runs: the loop keeps it. `arg` must outlive the task unless
 * opts->arg_bytes is set. A task that is cancelled before its first step never
 * runs its body (as in asyncio), so what only the body would release must not be handed
 * over by `arg` alone. Where a task belongs to the work of another, coil_group_spawn() is
 * the better call. Fails with -ENOMEM, -EINVAL (arg_bytes, stack_bytes,
 * hooks).
 *
 * With opts->eager it begins before coil_spawn() returns, which is when it waits for the
 * first time, or has ended: then it was never in the ready queue. Meanwhile it is the
 * running task, and *out is set. The spawner does not suspend: nothing else runs. It may
 * be a callback too; before the loop runs, `eager` does nothing. (asyncio:
 * eager_task_factory)
 */
COIL_API int coil_spawn(coil_task_fn fn, void *arg, const coil_spawn_opts *opts,
                        coil_task **out);

/* One more reference, for coil_task_release(). */
COIL_API coil_task *coil_task_retain(coil_task *task);

/* Drop a reference; NULL is accepted. See coil_future_release(). */
COIL_API void coil_task_release(coil_task *task);

/* The task as a future, borrowed. */
COIL_API coil_future *coil_task_future(coil_task *task);

/* The same as coil_await(coil_task_future(task)): wait for it, return its rc. */
COIL_SUSPENDS int coil_task_await(coil_task *task);

/* The running task, borrowed; NULL in a callback or outside the loop. (asyncio:
 * current_task) */
COIL_API coil_task *coil_task_current(void);

/*
 * Call visit(task, arg) for every task of this thread's loop that has not ended, oldest
 * first, until it returns non-zero, and return that. It must not spawn or
 * release the last reference of a task, and if it would suspend, the program stops.
 * (asyncio: all_tasks)
 */
COIL_API int coil_task_each(int (*visit)(coil_task *task, void *arg), void *arg);

/* Its name; never NULL, valid until it is renamed or gone. (asyncio: get_name) */
COIL_API const char *coil_task_name(const coil_task *task);

/* Rename it; copied, at most 31 bytes, 15 if there is no memory for more. */
COIL_API void coil_task_set_name(coil_task *task, const char *name);

/*
 * How many bytes of its stack the task has used so far at most, in whole pages: what it
 * needs is a stack_bytes of that, and some to spare. It may be the running task, one that
 * waits, or one that has ended. Does not suspend. Only on the task's own thread.
 *
 * Fails with -EAGAIN where an earlier task had used the same stack, or where this one has
 * ended and its pages are gone. That happens but to tasks from before the first call on
 * the thread: from then on each stack is cleaned before a task gets it and looked at when
 * it ends, one or two system calls for each task. Pages that the kernel has swapped out
 * are not counted; where memory is locked (mlockall(2)) all are.
 */
COIL_API ssize_t coil_task_stack_peak(const coil_task *task);

/*
 * Call fn(arg) when the body of the running task has returned, last deferred first, in
 * that task: so fn may suspend. It does not change the rc; a delivered cancellation still
 * stands, so what has to be waited for in spite of it is waited for in a shielded scope.
 * What is to be undone in any case, from however deep in the calls it was done. It may
 * defer more. Fails with -ENOMEM. Outside a task it stops the program.
 */
COIL_API int coil_defer(void (*fn)(void *arg), void *arg);

/* ---- waiting ----------------------------------------------------------------------- */

/*
 * Let everything else that is ready run. Returns 0 or -ECANCELED. (asyncio: sleep(0))
 *
 * A task that computes for long calls it now and then. All tasks that are ready take one
 * step in each turn of the loop. Between two turns the loop polls for I/O and timers if
 * the last poll was 250 us ago or longer: after every turn, if a turn takes that long. So
 * I/O waits for one or two turns. If turns become long suddenly, the loop may notice that
 * after up to 64 of them.
 */
COIL_SUSPENDS int coil_yield(void);

/*
 * Wait `delay_ns` nanoseconds; 0 or less is coil_yield(). 0 or -ECANCELED, and then no
 * timer is left behind. Allocates nothing and cannot fail otherwise: the room for a
 * task's timer is taken when the task is made. (asyncio: sleep)
 */
COIL_SUSPENDS int coil_sleep(int64_t delay_ns);

/* Wait until coil_now() reaches `deadline`. */
COIL_SUSPENDS int coil_sleep_until(int64_t deadline);

/*
 * Suspend the running task until coil_unpark() is called for it, and return the rc given
 * there. -ECANCELED if the task is cancelled before it runs again, even if it was
 * unparked by then: take back the request to unpark it, and pass on what came with an
 * unpark that was already made. For primitives of your own: remember coil_task_current(),
 * park, and let a callback, a reader or another task unpark it.
 */
COIL_SUSPENDS int coil_park(void);

/*
 * Make a parked task ready: its coil_park() returns `rc` in the next turn. Never
 * allocates. Returns 0, or -EALREADY if the task is not in coil_park(), or was cancelled
 * or unparked there already.
 */
COIL_API int coil_unpark(coil_task *task, int rc);

/* ---- cancellation ------------------------------------------------------------------ */

/*
 * Ask the task to end. Never allocates. (asyncio: Task.cancel)
 *
 * Returns false if it has ended (a failure then counts as retrieved), or was left pending
 * by its loop, which is closing; else true; whether and when it ends is up to it.
 * Cancelling oneself takes effect at the next call that would wait. `reason` is kept, not
 * copied; NULL is allowed. Tasks that await each other in a circle can never end: finding
 * one stops the program.
 */
COIL_API bool coil_task_cancel(coil_task *task, const char *reason);

/* How many cancellations were requested and not taken back. (asyncio: cancelling) */
COIL_API int coil_task_cancelling(const coil_task *task);

/*
 * Take back one request for the running task; returns how many remain. At 0, one that is
 * not yet delivered is dropped. (asyncio: uncancel)
 */
COIL_API int coil_uncancel(void);

/*
 * The running task has dealt with the cancellation delivered to it: later calls may wait
 * again. The count is left alone. Does nothing where none was delivered.
 * (Python: except CancelledError)
 */
COIL_API void coil_cancel_caught(void);

/*
 * True if the running task was told of a cancellation, a scope's deadline included, and
 * has not caught it: every call that would wait is refused. False outside of tasks.
 */
COIL_API bool coil_cancel_delivered(void);

/*
 * How many waits of the running task have been refused since a cancellation was delivered
 * to it, up to 1,000. 0 if none was delivered, or the task has caught it, and outside of
 * tasks. For code that waits on behalf of code that knows nothing of coil: a loop that
 * does nothing but wait would never end.
 */
COIL_API unsigned coil_cancel_refusals(void);

/*
 * True if the running task was spawned with hold_cancel. For code that waits on behalf of
 * code that knows nothing of coil: it waits in a shielded scope then. False outside of
 * tasks.
 */
COIL_API bool coil_cancel_held(void);

/*
 * The reason of the latest request to cancel the running task; where there is none, that
 * of the latest future it awaited which was cancelled. Or NULL.
 */
COIL_API const char *coil_cancel_reason(void);

/*
 * The origin of a cancellation. A cancellation that is passed on along a chain of
 * awaiting tasks keeps the origin of the first request.
 */
typedef struct coil_cancel_origin {
    const char *reason; /* as given, or NULL; "deadline" for a scope's */
    char task[32]; /* the name of the task that asked, at that time; of the child that
                      failed, for a group's; "" for a callback, and a scope's */
    const void *address; /* the code that asked; for a scope or a group, the code that
                            opened it. addr2line(1) knows its line */
} coil_cancel_origin;

/*
 * The origin of the latest request to cancel the task, taken back or not, ended or not.
 * Returns false, and leaves *out alone, if there never was one.
 */
COIL_API bool coil_task_cancel_origin(const coil_task *task, coil_cancel_origin *out);

#ifdef __cplusplus
}
#endif

#endif
