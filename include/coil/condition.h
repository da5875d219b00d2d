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

/* The lock stays the caller's, and may serve several conditions. */
COIL_API void coil_condition_init(coil_condition *condition, coil_lock *lock);

/* Nothing may wait for it any more. NULL is accepted. */
COIL_API void coil_condition_finish(coil_condition *condition);

/*
 * Release the lock, wait to be notified, take the lock again. (asyncio: wait)
 *
 * It may wake without cause: test in a loop. Returns 0; -ECANCELED, and even then with
 * the lock held; -EPERM if the lock was not locked.
 */
COIL_SUSPENDS int coil_condition_wait(coil_condition *condition);

/*
 * Wait until predicate(arg) is other than 0, and return that: it is asked at once, and
 * with the lock held whenever the condition was notified. Below 0 it is a failure of the
 * predicate's own. Fails as coil_condition_wait(). (asyncio: wait_for)
 */
COIL_SUSPENDS int coil_condition_wait_for(coil_condition *condition,
                                          int (*predicate)(void *arg), void *arg);

/*
 * Wake up to n waiters, or all; they go on as they get the lock. -EPERM if it is not
 * locked. (asyncio: notify, notify_all)
 */
COIL_API int coil_condition_notify(coil_condition *condition, size_t n);
COIL_API int coil_condition_notify_all(coil_condition *condition);

#ifdef __cplusplus
}
#endif

#endif
