/*
 * coil/gather.h - wait for several futures, for each as it completes, or with a deadline.
 *
 *     coil_future *parts[] = {coil_task_future(a), coil_task_future(b)};
 *     int rcs[2];
 *     rc = coil_gather(parts, 2, 0, rcs);
 *
 * coil_gather() waits for all futures; coil_wait() waits for all, for the first one, or
 * until one fails. With coil_as_completed a task gets each future as soon as it
 * completes. Use coil_wait_for() for one future with a deadline, and
 * coil_staggered_race() for the first success among alternatives. Prefer a group
 * (coil/group.h) for tasks that belong together.
 *
 * The arguments of these calls are futures. A task is a future, too: coil_task_future().
 * To wait for any other event, spawn a task that waits for it. (asyncio: ensure_future)
 *
 *     rc = coil_spawn(read_all, file, NULL, &task);               // a function that waits
 *     rc = coil_spawn(awaitable->await, awaitable, NULL, &other); // a coil_awaitable
 */
#ifndef COIL_GATHER_H
#define COIL_GATHER_H

#include <coil/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Wait for all futures, even if some fail. (asyncio: gather(return_exceptions=True)) */
#define COIL_GATHER_ALL 1u

/*
 * Wait until all futures are done, or until one of them has failed. (asyncio: await
 * gather(...))
 *
 * If `rcs` is not NULL, rcs[i] receives the rc of futures[i]. With COIL_GATHER_ALL the
 * call returns 0 when all are done. Without COIL_GATHER_ALL, the first failure is
 * returned immediately; futures that are still pending continue, and their elements of
 * `rcs` are -EINPROGRESS. The same future may occur more than once. The call does not
 * suspend if n is 0 or all futures are done.
 *
 * Cancelling the waiting task cancels all futures. The call then returns -ECANCELED when
 * all futures have ended, or, without COIL_GATHER_ALL, when the first one has ended. The
 * call allocates one block of memory; if that fails, it returns -ENOMEM without waiting.
 */
COIL_SUSPENDS int coil_gather(coil_future *const futures[], size_t n, unsigned flags,
                              int rcs[]);

typedef enum coil_wait_mode {
    COIL_WAIT_ALL,   /* wait until all futures are done */
    COIL_WAIT_FIRST, /* wait until one future is done */
    /* wait until a future has failed (not cancelled), or all are done */
    COIL_WAIT_FIRST_EXCEPTION
} coil_wait_mode;

/*
 * Wait until the condition that `mode` specifies is met, or until `deadline` (COIL_NEVER
 * for no deadline). Returns the number of futures that are done; coil_future_done() tells
 * which. (asyncio: wait)
 *
 * Reaching the deadline is not an error. The futures are never cancelled, not even when
 * the waiting task is cancelled; the call then returns -ECANCELED. Fails with -EINVAL if
 * n is 0 or `mode` is unknown, or with -ENOMEM. The same future must not occur twice.
 */
COIL_SUSPENDS int coil_wait(coil_future *const futures[], size_t n, coil_wait_mode mode,
                            int64_t deadline);

/*
 * Await one future. If the future is not done when `deadline` passes, cancel it and wait
 * until it has ended. (asyncio: wait_for)
 *
 * Returns the future's rc, or -ETIMEDOUT if the deadline cancelled it. If the future
 * completes in spite of the cancellation, its rc is returned. A deadline in the past
 * cancels the future immediately, unless the future is done. To limit the time of a call
 * rather than a future, use a scope (coil/scope.h).
 *
 * Cancelling the waiting task cancels the future, and the call returns -ECANCELED. To
 * keep the future running, await it with coil_shield() in a scope. Fails with -ENOMEM if
 * the table of timers cannot grow.
 */
COIL_SUSPENDS int coil_wait_for(coil_future *future, int64_t deadline);

/* ---- each future as it completes --------------------------------------------------- */

/* Allocated by the caller; all members are private to coil. */
typedef struct coil_as_completed {
    void *private_[16];
} coil_as_completed;

/*
 * Begin to iterate over futures in the order in which they complete. (asyncio:
 * as_completed)
 *
 *     coil_as_completed each;
 *     coil_future *f;
 *     rc = coil_as_completed_init(&each, futures, n, coil_in(COIL_SEC(5)));
 *     while (rc >= 0 && (rc = coil_as_completed_next(&each, &f)) > 0)
 *         use(coil_future_result(f));
 *     coil_as_completed_finish(&each);              // rc: 0, -ETIMEDOUT, -ECANCELED
 *
 * The iteration belongs to the running task's loop. This call does not wait. The same
 * future must not occur twice. The futures are retained until coil_as_completed_finish();
 * the array may be freed earlier. `deadline` applies to the whole iteration; COIL_NEVER
 * means no deadline. n may be 0. Fails with -ENOMEM; coil_as_completed_finish() may be
 * called even after a failure.
 */
COIL_API COIL_CHECKED int coil_as_completed_init(coil_as_completed *each,
                                                 coil_future *const futures[], size_t n,
                                                 int64_t deadline);

/*
 * Wait for the next future that is done. (asyncio: async for, where a cancelled wait
 * consumes a future)
 *
 * Returns 1 and stores the future in *out, borrowed until coil_as_completed_finish().
 * Returns 0 when all futures have been returned. The call does not suspend if a future is
 * already done.
 *
 * After the deadline, futures that completed in time are returned first. Then the call
 * returns -ETIMEDOUT once for each future that did not complete in time; such futures are
 * not cancelled. Returns -ECANCELED if the task is cancelled: no future is consumed, and
 * the iteration may continue. The cost of a completion does not depend on the number of
 * futures. Several tasks may wait at the same time; they are served in the order of their
 * calls.
 */
COIL_SUSPENDS int coil_as_completed_next(coil_as_completed *each, coil_future **out);

/*
 * End the iteration and drop the remaining futures. NULL and a zeroed object are
 * accepted. No task may still be waiting in coil_as_completed_next().
 */
COIL_API void coil_as_completed_finish(coil_as_completed *each);

/* ---- the first success of several -------------------------------------------------- */

/* A function to run; a result of 0 or more means success. */
typedef struct coil_work {
    coil_task_fn fn;
    void *arg;
} coil_work;

/*
 * Start the alternatives one after another, until one succeeds. (asyncio:
 * staggered.staggered_race)
 *
 * The next alternative starts when the latest alternative has failed, or `delay_ns` after
 * that alternative started. After the first success the other alternatives are cancelled.
 * When all alternatives have ended, the winner's rc is returned. For example, a client
 * can try several addresses of a server without waiting long for an address that does not
 * answer (RFC 8305).
 *
 * Each alternative runs in its own task and may use the caller's stack frame. If delay_ns
 * is COIL_NEVER, each alternative starts only when the previous one has failed. If
 * `winner` is not NULL, it receives the index of the winner, or n if all failed. If all
 * failed, the earliest failure is returned. If `rcs` is not NULL, it receives the result
 * of each alternative, or -EINPROGRESS for alternatives that were not started.
 *
 * Cancelling the waiting task cancels the alternatives, and the call returns -ECANCELED
 * when they have ended. If an alternative succeeds in spite of the cancellation, its rc
 * is returned, and the task's next wait is cancelled. Fails with -EINVAL if n is 0, or
 * with -ENOMEM before the first alternative is started. If a later alternative cannot be
 * started, the error becomes its rc, and no further alternative is started.
 */
COIL_SUSPENDS COIL_CHECKED int coil_staggered_race(const coil_work works[], size_t n,
                                                   int64_t delay_ns, size_t *winner,
                                                   int rcs[]);

#ifdef __cplusplus
}
#endif

#endif
