/*
 * coil/gather.h - wait for several futures at once.
 *
 *     coil_future *parts[] = {coil_task_future(a), coil_task_future(b)};
 *     int rcs[2];
 *     rc = coil_gather(parts, 2, 0, rcs);
 */
#ifndef COIL_GATHER_H
#define COIL_GATHER_H

#include <coil/future.h>

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

#ifdef __cplusplus
}
#endif

#endif
