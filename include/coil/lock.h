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
 * Only code that waits needs a lock: between two waits no other task runs. A lock is not
 * recursive, and has no owner: any task may release it. (asyncio: Lock)
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
} coil_lock;

/* clang-format off */
#define COIL_LOCK_INIT {COIL_WAITERS_INIT, false}
/* clang-format on */

/* One that nobody has: what COIL_LOCK_INIT is, at run time. */
COIL_API void coil_lock_init(coil_lock *lock);

/* Nothing may wait for it any more. NULL is accepted. */
COIL_API void coil_lock_finish(coil_lock *lock);

/*
 * Take the lock, waiting for one's turn. 0, or -ECANCELED and the lock is not taken; the
 * next in line is not forgotten then. (asyncio: acquire)
 */
COIL_SUSPENDS int coil_lock_acquire(coil_lock *lock);

/* Give it back; the first waiter takes it in the next turn. Not locked: -EPERM. */
COIL_API int coil_lock_release(coil_lock *lock);

/* True while a task has it. (asyncio: locked) */
COIL_API bool coil_lock_locked(const coil_lock *lock);

#ifdef __cplusplus
}
#endif

#endif
