/*
 * coil/lock.h - a mutex for tasks.
 *
 *     static coil_lock lock = COIL_LOCK_INIT;
 *     rc = coil_lock_acquire(&lock);
 *     if (rc < 0)
 *         return rc;
 *     rc = save(&state);                     // waits while it holds the lock
 *     coil_lock_release(&lock);
 *
 * A lock is needed only around code that waits, because other tasks run only while the
 * current task waits. A lock is not recursive. Any task may release the lock, even if
 * another task acquired it. (asyncio: Lock)
 */
#ifndef COIL_LOCK_H
#define COIL_LOCK_H

#include <coil/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_lock {
    coil_waiters waiters;
    bool locked;
    uint32_t owner; /* number of the task that holds the lock, for coil-ps; or 0 */
} coil_lock;

/* clang-format off */
#define COIL_LOCK_INIT {COIL_WAITERS_INIT, false, 0}
/* clang-format on */

/* Initialise an unlocked lock at run time, like COIL_LOCK_INIT. */
COIL_API void coil_lock_init(coil_lock *lock);

/* Destroy the lock; no task may still be waiting for it. NULL is accepted. */
COIL_API void coil_lock_finish(coil_lock *lock);

/*
 * Acquire the lock, waiting for tasks that called earlier. Returns 0, or -ECANCELED
 * without acquiring the lock. (asyncio: acquire)
 */
COIL_SUSPENDS COIL_CHECKED int coil_lock_acquire(coil_lock *lock);

/*
 * Release the lock; the first waiter acquires it in the next turn of the loop. Fails with
 * -EPERM if the lock is not locked. (asyncio: release)
 */
COIL_API int coil_lock_release(coil_lock *lock);

/* True while the lock is locked. (asyncio: locked) */
COIL_API bool coil_lock_locked(const coil_lock *lock);

#ifdef __cplusplus
}
#endif

#endif
