/*
 * locking.c - lock mutexes and read-write locks between tasks of one thread.
 *
 * To the C library, all tasks of a thread are one thread. If a task is suspended while it
 * holds a mutex, a second task that locks the mutex would deadlock the thread, because
 * the first task could never run to unlock it. If the mutex is recursive, the second task
 * would lock it at once, as if it were the owner. Therefore:
 *
 * - Locking first tries the lock. If this fails, the task parks and tries again when the
 *   lock is released (parking.c). Other tasks run in the meantime.
 * - For recursive and error-checking mutexes, holding.c records which task holds them. To
 *   all other tasks, such a mutex is locked. holding.c also records which task has locked
 *   a
 *   read-write lock for writing, because that task must not wait for itself.
 *
 * Locking cannot fail because of a cancellation: the task gets the lock, and the next
 * call that can fail reports the cancellation.
 */
#include "holding.h"
#include "parking.h"

/* ---- mutexes ----------------------------------------------------------------------- */

static int try_mutex(pthread_mutex_t *mutex)
{
    int rc;

    if (posix__is_another_tasks(mutex))
        return EBUSY;
    rc = NEXT(pthread_mutex_trylock)(mutex);
    if ((rc != 0 && rc != EOWNERDEAD) || posix__note_locked(mutex))
        return rc;
    NEXT(pthread_mutex_unlock)(mutex);
    return EAGAIN; /* no memory for the record: like POSIX's "too many recursive locks" */
}

/* Test glibc's PTHREAD_MUTEX_PSHARED_BIT. */
static bool is_shared(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind & 128;
}

/*
 * Try to lock the mutex. Unlike pthread_mutex_trylock(), fail with EDEADLK if the mutex
 * is error-checking and this task already holds it.
 */
static int attempt_mutex(void *mutex)
{
    int rc = try_mutex(mutex);

    return rc == EBUSY && posix__is_own_errorcheck(mutex) ? EDEADLK : rc;
}

INTERPOSE int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!IN_TASK())
        return NEXT(pthread_mutex_lock)(mutex);
    return posix__retry_shielded(attempt_mutex, mutex, NULL, is_shared(mutex));
}

INTERPOSE int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (!IN_TASK())
        return NEXT(pthread_mutex_trylock)(mutex);
    return try_mutex(mutex);
}

INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                                      const struct timespec *restrict time)
{
    if (!IN_TASK())
        return NEXT(pthread_mutex_timedlock)(mutex, time);
    return posix__retry_shielded(attempt_mutex, mutex,
                                 &(struct posix__until){CLOCK_REALTIME, time}, false);
}

INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                      const struct timespec *restrict time)
{
    if (!IN_TASK() || !posix__is_clock_of_locks(clock))
        return NEXT(pthread_mutex_clocklock)(mutex, clock, time);
    return posix__retry_shielded(attempt_mutex, mutex,
                                 &(struct posix__until){clock, time}, false);
}

/*
 * When libcoil or the allocator unlocks a mutex, no task is woken. Tasks never wait for
 * these mutexes, and waking a task locks some of them.
 */
INTERPOSE int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    const void *caller = __builtin_return_address(0);
    int rc;

    if (posix__is_another_tasks(mutex) && IN_TASK())
        /* the C library would unlock the mutex, because the thread is the same */
        return EPERM;
    posix__latest_cond = NULL;
    posix__note_unlocked(mutex);
    rc = NEXT(pthread_mutex_unlock)(mutex);
    if (posix__may_be_parked(mutex) && !posix__may_block(caller))
        posix__unpark(mutex);
    return rc;
}

/* ---- read-write locks -------------------------------------------------------------- */

/*
 * As in glibc, a writer that locks again gets EDEADLK, but a reader that requests the
 * lock for writing deadlocks.
 */
static int attempt_to_read(void *lock)
{
    int rc = pthread_rwlock_tryrdlock(lock);

    return rc == EBUSY && posix__is_own_for_writing(lock) ? EDEADLK : rc;
}

static int try_to_write(pthread_rwlock_t *lock)
{
    int rc = NEXT(pthread_rwlock_trywrlock)(lock);

    if (rc == 0)
        posix__note_write_locked(lock);
    return rc;
}

static int attempt_to_write(void *lock)
{
    int rc = try_to_write(lock);

    return rc == EBUSY && posix__is_own_for_writing(lock) ? EDEADLK : rc;
}

INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    if (!IN_TASK())
        return NEXT(pthread_rwlock_rdlock)(lock);
    return posix__retry_shielded(attempt_to_read, lock, NULL, lock->__data.__shared != 0);
}

INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    if (!IN_TASK())
        return NEXT(pthread_rwlock_wrlock)(lock);
    return posix__retry_shielded(attempt_to_write, lock, NULL,
                                 lock->__data.__shared != 0);
}

INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    if (!IN_TASK())
        return NEXT(pthread_rwlock_trywrlock)(lock);
    return try_to_write(lock);
}

/* The C library rejects an invalid time even if the lock is free. */

INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock,
                                         const struct timespec *restrict time)
{
    if (!IN_TASK() || !posix__is_time(time))
        return NEXT(pthread_rwlock_timedrdlock)(lock, time);
    return posix__retry_shielded(attempt_to_read, lock,
                                 &(struct posix__until){CLOCK_REALTIME, time}, false);
}

INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock,
                                         const struct timespec *restrict time)
{
    if (!IN_TASK() || !posix__is_time(time))
        return NEXT(pthread_rwlock_timedwrlock)(lock, time);
    return posix__retry_shielded(attempt_to_write, lock,
                                 &(struct posix__until){CLOCK_REALTIME, time}, false);
}

INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                         const struct timespec *restrict time)
{
    if (!IN_TASK() || !posix__is_clock_of_locks(clock) || !posix__is_time(time))
        return NEXT(pthread_rwlock_clockrdlock)(lock, clock, time);
    return posix__retry_shielded(attempt_to_read, lock,
                                 &(struct posix__until){clock, time}, false);
}

INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                         const struct timespec *restrict time)
{
    if (!IN_TASK() || !posix__is_clock_of_locks(clock) || !posix__is_time(time))
        return NEXT(pthread_rwlock_clockwrlock)(lock, clock, time);
    return posix__retry_shielded(attempt_to_write, lock,
                                 &(struct posix__until){clock, time}, false);
}

/* Wake waiting readers and writers, which then try the lock again. */
INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    int rc;

    posix__note_rwlock_unlocked(lock);
    rc = NEXT(pthread_rwlock_unlock)(lock);
    if (posix__may_be_parked(lock))
        posix__unpark_all(lock);
    return rc;
}
