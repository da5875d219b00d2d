/*
 * coil/barrier.h - a fixed number of tasks wait for each other, and continue together.
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
 * task that calls coil_barrier_wait() before the last task has left waits for the next
 * round. (asyncio: Barrier)
 */
#ifndef COIL_BARRIER_H
#define COIL_BARRIER_H

#include <coil/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocated by the caller; all members are private to coil. */
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

/* Initialise a barrier for `parties` tasks at run time, like COIL_BARRIER_INIT. */
COIL_API void coil_barrier_init(coil_barrier *barrier, size_t parties);

/* Destroy the barrier; no task may still be waiting for it. NULL is accepted. */
COIL_API void coil_barrier_finish(coil_barrier *barrier);

/*
 * Wait until all parties have called this function. (asyncio: wait)
 *
 * Returns the task's index in the round, from 0 to parties - 1. The first task to
 * continue gets 0. The last task to call does not wait, and gets parties - 1. A cancelled
 * task gets no index, and no two tasks of a round get the same index.
 *
 * Fails with -ECANCELED if the task is cancelled. If the other tasks are still waiting,
 * another task must then call coil_barrier_wait() in place of the cancelled task. Fails
 * with -EPIPE if the barrier is already broken, or is broken or reset while the task
 * waits. Fails with -EINVAL if the barrier was initialised for 0 parties.
 */
COIL_SUSPENDS int coil_barrier_wait(coil_barrier *barrier);

/*
 * Reset the barrier: waiting tasks get -EPIPE, and a broken barrier works again.
 * (asyncio: reset)
 *
 * Suspends if tasks of the previous round are still leaving the barrier. Returns 0, or
 * -ECANCELED without changing the barrier.
 */
COIL_SUSPENDS int coil_barrier_reset(coil_barrier *barrier);

/*
 * Break the barrier, for example because one of its tasks will never call
 * coil_barrier_wait(). Waiting tasks, and tasks that call coil_barrier_wait() before a
 * reset, get -EPIPE. Returns 0 or -ECANCELED, like coil_barrier_reset(). (asyncio: abort)
 */
COIL_SUSPENDS int coil_barrier_abort(coil_barrier *barrier);

/* Return the number of tasks for which the barrier was initialised. */
COIL_API size_t coil_barrier_parties(const coil_barrier *barrier);

/*
 * Return the number of waiting tasks; 0 while the tasks of a full barrier are leaving.
 * (asyncio: n_waiting)
 */
COIL_API size_t coil_barrier_waiting(const coil_barrier *barrier);

/*
 * True if the barrier is broken: from coil_barrier_abort() until a reset. (asyncio:
 * broken)
 */
COIL_API bool coil_barrier_broken(const coil_barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif
