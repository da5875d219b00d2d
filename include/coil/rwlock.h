/*
 * coil/rwlock.h - a lock held by many readers or by one writer.
 *
 *     static coil_rwlock lock = COIL_RWLOCK_INIT;
 *     rc = coil_rwlock_acquire_read(&lock);
 *     if (rc < 0)
 *         return rc;
 *     rc = send_table(&table);               // waits; other readers may run meanwhile
 *     coil_rwlock_release(&lock);
 *
 * A lock is needed only around code that waits, because other tasks run only while the
 * current task waits. Tasks are served in the order of their calls, so a waiting
 * writer blocks later readers, and is not starved. The lock is not recursive: a reader
 * that acquires it again may wait for a writer, which in turn waits for the reader.
 * (tokio: sync::RwLock)
 */
#ifndef COIL_RWLOCK_H
#define COIL_RWLOCK_H

#include <coil/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_rwlock {
    coil_waiters waiters;
    size_t readers;
    bool writing;
} coil_rwlock;

/* clang-format off */
#define COIL_RWLOCK_INIT {COIL_WAITERS_INIT, 0, false}
/* clang-format on */

/* Initialise an unlocked lock at run time, like COIL_RWLOCK_INIT. */
COIL_API void coil_rwlock_init(coil_rwlock *lock);

/* Destroy the lock; no task may still be waiting for it. NULL is accepted. */
COIL_API void coil_rwlock_finish(coil_rwlock *lock);

/*
 * Acquire the lock for reading or for writing, waiting in line. Returns 0, or -ECANCELED
 * without acquiring the lock.
 */
COIL_SUSPENDS COIL_CHECKED int coil_rwlock_acquire_read(coil_rwlock *lock);
COIL_SUSPENDS COIL_CHECKED int coil_rwlock_acquire_write(coil_rwlock *lock);

/*
 * Release the lock, which the caller holds for reading or for writing. Never suspends.
 * Fails with -EPERM if the lock is not locked.
 */
COIL_API int coil_rwlock_release(coil_rwlock *lock);

/* True while any task holds the lock, for reading or for writing. */
COIL_API bool coil_rwlock_locked(const coil_rwlock *lock);

#ifdef __cplusplus
}
#endif

#endif
