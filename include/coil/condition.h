/*
 * coil/condition.h - a condition variable: wait, under a lock, until something is true.
 *
 *     rc = coil_lock_acquire(&lock);
 *     if (rc < 0)
 *         return rc;
 *     while (rc == 0 && !ready)
 *         rc = coil_condition_wait(&changed);
 *     coil_lock_release(&lock);
 *
 * (asyncio: Condition)
 */
#ifndef COIL_CONDITION_H
#define COIL_CONDITION_H

#include <coil/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_condition {
    coil_waiters waiters;
    coil_lock *lock;
} coil_condition;

/* clang-format off */
#define COIL_CONDITION_INIT(lock) {COIL_WAITERS_INIT, (lock)}
/* clang-format on */

/*
 * Initialise a condition for a lock. The caller owns the lock, which may serve several
 * conditions.
 */
COIL_API void coil_condition_init(coil_condition *condition, coil_lock *lock);

/* Destroy the condition; no task may still be waiting for it. NULL is accepted. */
COIL_API void coil_condition_finish(coil_condition *condition);

/*
 * Release the lock, wait until the condition is notified, and acquire the lock again.
 * (asyncio: wait)
 *
 * Wake-ups may be spurious, so test the condition in a loop. Returns 0, or -ECANCELED; in
 * both cases the task holds the lock again. Fails with -EPERM if the lock is not locked.
 */
COIL_SUSPENDS COIL_CHECKED int coil_condition_wait(coil_condition *condition);

/*
 * Wait until predicate(arg) is not 0, and return its value. (asyncio: wait_for)
 *
 * The predicate is called immediately, and after each notification, with the lock held.
 * It reports a failure by returning a negative errno, which ends the wait. Also fails
 * like coil_condition_wait().
 */
COIL_SUSPENDS COIL_CHECKED int coil_condition_wait_for(coil_condition *condition,
                                                       int (*predicate)(void *arg),
                                                       void *arg);

/*
 * Wake up to n waiting tasks (notify), or all of them (notify_all). Each task continues
 * once it has acquired the lock. Fail with -EPERM if the lock is not locked. (asyncio:
 * notify, notify_all)
 */
COIL_API int coil_condition_notify(coil_condition *condition, size_t n);
COIL_API int coil_condition_notify_all(coil_condition *condition);

#ifdef __cplusplus
}
#endif

#endif
