/*
 * coil/gather.h - wait for several futures at once, one after the other, or with a
 * deadline.
 *
 *     coil_future *parts[] = {coil_task_future(a), coil_task_future(b)};
 *     int rcs[2];
 *     rc = coil_gather(parts, 2, 0, rcs);
 *
 * coil_gather() waits for all, coil_wait() for some, coil_as_completed for each as it
 * completes, coil_wait_for() for one with a deadline, coil_staggered_race() for the first
 * success among alternatives. For tasks that belong together prefer a group
 * (coil/group.h).
 *
 * What they take is futures, and a task is one: coil_task_future(). Whatever else waits,
 * waits in a task; spawn it, and it is a future. (asyncio: ensure_future)
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

/* Wait for all, whatever they end with. (asyncio: gather(return_exceptions=True)) */
#define COIL_GATHER_ALL 1u

/*
 * Wait until all of them are done, or the first has failed. (asyncio: await gather(...))
 *
 * rcs[i], if rcs is not NULL, receives the rc of futures[i]. Returns 0; or without
 * COIL_GATHER_ALL the first failure in time, at once: the others go on, with -EINPROGRESS
 * as their rc. The same future may occur more than once. n of 0, and futures that are all
 * done, do not suspend. Cancelling the waiting task cancels every one of them, and the
 * call returns -ECANCELED when they have ended (without COIL_GATHER_ALL: when the first
 * has). Fails with -ENOMEM before anything is awaited: one block for all.
 */
COIL_SUSPENDS int coil_gather(coil_future *const futures[], size_t n, unsigned flags,
                              int rcs[]);

typedef enum coil_wait_mode {
    COIL_WAIT_ALL,            /* until every one is done */
    COIL_WAIT_FIRST,          /* until one is done */
    COIL_WAIT_FIRST_EXCEPTION /* until one has failed (cancelled is not failed), or all
                                 are done */
} coil_wait_mode;

/*
 * Wait as `mode` says, or until `deadline` (COIL_NEVER for none); returns how many are
 * done. (asyncio: wait)
 *
 * The deadline is no error, and nothing is ever cancelled, not even when the waiting task
 * is: then -ECANCELED. Ask coil_future_done() which. -EINVAL if n is 0 or `mode` is none
 * of the three, -ENOMEM. The futures must differ from each other.
 */
COIL_SUSPENDS int coil_wait(coil_future *const futures[], size_t n, coil_wait_mode mode,
                            int64_t deadline);

/*
 * Await one future until `deadline`; then it is cancelled, and awaited to its end.
 * (asyncio: wait_for)
 *
 * Returns the future's rc; -ETIMEDOUT if the deadline cancelled it, but what it returned
 * if it did not listen. A deadline that has passed cancels at once, unless it is done. To
 * cut off a call rather than a future, use a scope (coil/scope.h). Cancelling the waiting
 * task cancels the future: -ECANCELED. To keep it running, shield it: await it by
 * coil_shield() in a scope. -ENOMEM where the table of timers cannot grow.
 */
COIL_SUSPENDS int coil_wait_for(coil_future *future, int64_t deadline);

/* ---- each as it completes ---------------------------------------------------------- */

/* The caller's memory; all fields are coil's own. */
typedef struct coil_as_completed {
    void *private_[16];
} coil_as_completed;

/*
 * Begin to go through futures in the order in which they complete. (asyncio:
 * as_completed)
 *
 *     coil_as_completed each;
 *     coil_future *f;
 *     rc = coil_as_completed_init(&each, futures, n, coil_in(COIL_SEC(5)));
 *     while (rc >= 0 && (rc = coil_as_completed_next(&each, &f)) > 0)
 *         use(coil_future_result(f));
 *     coil_as_completed_finish(&each);              // rc: 0, -ETIMEDOUT, -ECANCELED
 *
 * For the running task's loop; nothing is awaited yet. The futures must differ from each
 * other, and are kept until coil_as_completed_finish(); the array may go. `deadline` is
 * for all of them, COIL_NEVER for none. n may be 0. Fails with -ENOMEM; finishing is
 * allowed then, too.
 */
COIL_API int coil_as_completed_init(coil_as_completed *each, coil_future *const futures[],
                                    size_t n, int64_t deadline);

/*
 * Wait for the next that is done: 1, and *out, borrowed until the end. 0 when all have
 * been returned. One that is done already needs no waiting.
 *
 * When the deadline has passed, what was done in time is returned first, then -ETIMEDOUT
 * for each that was not; they are neither cancelled nor lost. -ECANCELED if the task is
 * cancelled: nothing is taken then, and one may go on. A completion costs the same
 * however many there are. Several tasks may wait at a time; they are served in order.
 * (asyncio: async for; but there one that is cancelled counts as returned)
 */
COIL_SUSPENDS int coil_as_completed_next(coil_as_completed *each, coil_future **out);

/* Forget what is left. NULL and a zeroed one are accepted; nobody may wait. */
COIL_API void coil_as_completed_finish(coil_as_completed *each);

/* ---- several ways to the same end -------------------------------------------------- */

/* Something to do; 0 or more is success. */
typedef struct coil_work {
    coil_task_fn fn;
    void *arg;
} coil_work;

/*
 * Begin the first of the works; whenever the latest has failed, or `delay_ns` has passed
 * without, the next; until one succeeds. Then the others are cancelled, and when all have
 * ended the winner's rc is returned. (asyncio: staggered.staggered_race)
 *
 * This is how to connect by several addresses without waiting long for a bad one (RFC
 * 8305). Each work runs in a task of its own and may use the caller's frame. delay_ns of
 * COIL_NEVER is: one after the other. *winner, if not NULL, is the index of the one who
 * won, n if nobody has; then the first failure in time is returned. rcs, if not NULL,
 * receives what each returned, -EINPROGRESS for those not begun.
 *
 * Cancelling the waiting task cancels the works: -ECANCELED when they have ended; if one
 * of them wins all the same its rc is returned, and the task's next wait is told. -EINVAL
 * if n is 0, -ENOMEM before anything is begun; a work that cannot be begun later has that
 * as its rc, and none comes after it.
 */
COIL_SUSPENDS int coil_staggered_race(const coil_work works[], size_t n, int64_t delay_ns,
                                      size_t *winner, int rcs[]);

#ifdef __cplusplus
}
#endif

#endif
