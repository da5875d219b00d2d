/*
 * coil/barrier.h - a set number of tasks wait for each other, and go on together.
 *
 *     static coil_barrier all_ready = COIL_BARRIER_INIT(3);
 *
 * Each of three tasks waits for the other two:
 *
 *     rc = coil_barrier_wait(&all_ready);
 *     if (rc < 0)
 *         return rc;
 *     if (rc == 0)
 *         print_totals();                 // in one task of the three
 *
 * A barrier is reusable: when the last task of a round has left, the next round begins. A
 * task that calls coil_barrier_wait() before that waits for it. (asyncio: Barrier)
 */
#ifndef COIL_BARRIER_H
#define COIL_BARRIER_H

#include <coil/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's memory; the fields are coil's own. */
typedef struct coil_barrier {
    coil_lock lock;
    coil_waiters changed;
    size_t parties, count;
    int state;
    unsigned passed;
} coil_barrier;

/* `parties` is the number of tasks, at least 1. */
/* clang-format off */
#define COIL_BARRIER_INIT(parties) {COIL_LOCK_INIT, COIL_WAITERS_INIT, (parties), 0, 0, 0}
/* clang-format on */

/* For `parties` tasks: what COIL_BARRIER_INIT is, at run time. */
COIL_API void coil_barrier_init(coil_barrier *barrier, size_t parties);

/* Nothing may wait for it any more. NULL is accepted. */
COIL_API void coil_barrier_finish(coil_barrier *barrier);

/*
 * Wait until all parties have come. Returns the task's place among those that go on, from
 * 0 for the first to parties - 1 for the last to come, which does not wait. A task that is
 * cancelled takes no place: each place is given to one task at most, and 0 to the first
 * that goes on. (asyncio: wait)
 *
 * Fails with -ECANCELED. If the others still wait then, another task must come in its
 * place. Fails with -EPIPE if the barrier is broken, or is reset or broken meanwhile; with
 * -EINVAL if it is for 0 parties.
 */
COIL_SUSPENDS int coil_barrier_wait(coil_barrier *barrier);

/*
 * Begin anew: the tasks that wait for the others get -EPIPE, a broken barrier is whole
 * again. 0, or -ECANCELED and nothing is done: it may have to wait for a task that is on
 * its way out. (asyncio: reset)
 */
COIL_SUSPENDS int coil_barrier_reset(coil_barrier *barrier);

/*
 * Break the barrier, because a party will not come: tasks that wait, and those that call
 * before a reset, get -EPIPE. 0 or -ECANCELED, as coil_barrier_reset(). (asyncio: abort)
 */
COIL_SUSPENDS int coil_barrier_abort(coil_barrier *barrier);

/* How many tasks it is for. */
COIL_API size_t coil_barrier_parties(const coil_barrier *barrier);

/* How many have come and wait for the others; 0 while they leave. (asyncio: n_waiting) */
COIL_API size_t coil_barrier_waiting(const coil_barrier *barrier);

/* True once it was aborted, until it is reset. (asyncio: broken) */
COIL_API bool coil_barrier_broken(const coil_barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif
