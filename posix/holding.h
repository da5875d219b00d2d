/*
 * holding.h - record which task of this thread holds a recursive or error-checking mutex,
 * or has locked a read-write lock for writing.
 */
#ifndef POSIX_HOLDING_H
#define POSIX_HOLDING_H

#include "interpose.h"

/* True if another task of this thread holds the mutex. The C library compares only
 * threads, so it would allow this task to lock or unlock the mutex. */
bool posix__is_another_tasks(const pthread_mutex_t *mutex);

/*
 * True if the running task holds this error-checking mutex, so that locking the mutex
 * again must fail with EDEADLK.
 */
bool posix__is_own_errorcheck(const pthread_mutex_t *mutex);

/* Record that the running task has locked the mutex. Returns false if memory ran out. */
bool posix__note_locked(const pthread_mutex_t *mutex);

/*
 * Call this before unlocking. For a recursive mutex, only the last unlock has an effect.
 */
void posix__note_unlocked(const pthread_mutex_t *mutex);

/*
 * Record that the running task has locked the read-write lock for writing, unless memory
 * ran out.
 */
void posix__note_write_locked(const pthread_rwlock_t *lock);

/*
 * Call this before unlocking a read-write lock, whether it is locked for reading or for
 * writing.
 */
void posix__note_rwlock_unlocked(const pthread_rwlock_t *lock);

/*
 * True if the running task has locked the read-write lock for writing, so that locking
 * the lock again must fail with EDEADLK.
 */
bool posix__is_own_for_writing(const pthread_rwlock_t *lock);

#endif
