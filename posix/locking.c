/*
 * locking.c - the locks of threads, between tasks of one thread.
 *
 * For the C library all tasks of a thread are that thread. A mutex that one of them holds
 * while it is suspended, the next would wait for without end, and nobody would be left to
 * unlock it; a recursive one it would simply be given, as if it held it. So:
 *
 * - what is locked is tried, and if it cannot be had, tried again after a moment; the
 *   others run meanwhile;
 * - of recursive and error-checking mutexes this remembers which task holds them, and to
 *   another task they are locked. As many as there are places in `held`; beyond that
 *   they are a thread's, as ever;
 * - a condition variable is waited for by letting go of the mutex for a moment, and then
 *   saying that it was signalled. POSIX allows for such wake-ups, so callers look
 *   whether it is true.
 *
 * A mutex is not a place to be cancelled at: the lock is taken, and the next call that
 * can fail tells. pthread_join() and sem_wait() are done by trying, too.
 */
#include "waiting.h"

#include <coil/task.h>

#define PLACES 256
#define KIND_MASK 3 /* of glibc's pthread_mutex_t.__data.__kind */
#define ROUND COIL_MSEC(1)

struct holding {
    const pthread_mutex_t *mutex;
    const coil_task *task;
};

static THREAD_LOCAL struct holding held[PLACES];
static THREAD_LOCAL unsigned held_count;

/* ---- who holds what
 * ---------------------------------------------------------------------- */

static bool counts_its_thread(const pthread_mutex_t *mutex)
{
    int kind = mutex->__data.__kind & KIND_MASK;

    return kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK;
}

/* Its place, or the one where it would be; NULL if there is none any more. */
static struct holding *place_of(const pthread_mutex_t *mutex)
{
    size_t first = (uintptr_t)mutex / sizeof(void *) % PLACES;
    struct holding *empty = NULL;
    unsigned others = 0;

    for (size_t i = 0; i < PLACES && (others < held_count || empty == NULL); i++) {
        struct holding *place = &held[(first + i) % PLACES];

        if (place->mutex == mutex)
            return place;
        if (place->mutex != NULL)
            others++;
        else if (empty == NULL)
            empty = place;
    }
    return empty;
}

static void forget(struct holding *place)
{
    *place = (struct holding){.mutex = NULL};
    held_count--;
}

/* What nobody holds was unlocked where we did not see it, or is a new one. */
static bool is_another_tasks(const pthread_mutex_t *mutex)
{
    struct holding *place;

    if (held_count == 0 || !counts_its_thread(mutex))
        return false;
    place = place_of(mutex);
    if (place == NULL || place->mutex != mutex)
        return false;
    if (mutex->__data.__owner == 0)
        forget(place);
    return place->mutex == mutex && place->task != coil_task_current();
}

static void note_locked(const pthread_mutex_t *mutex)
{
    struct holding *place;

    if (!counts_its_thread(mutex))
        return;
    place = place_of(mutex);
    if (place == NULL || place->mutex == mutex)
        return;
    *place = (struct holding){.mutex = mutex, .task = coil_task_current()};
    held_count++;
}

/* It is about to be unlocked, perhaps for the last time. */
static void note_unlocked(const pthread_mutex_t *mutex)
{
    struct holding *place;

    if (held_count == 0 || !counts_its_thread(mutex) || mutex->__data.__count > 1)
        return;
    place = place_of(mutex);
    if (place == NULL || place->mutex != mutex)
        return;
    forget(place);
}

/* ---- mutexes
 * ----------------------------------------------------------------------------- */

static int try_mutex(pthread_mutex_t *mutex)
{
    int rc;

    if (is_another_tasks(mutex))
        return EBUSY;
    rc = NEXT(pthread_mutex_trylock)(mutex);
    if (rc == 0 || rc == EOWNERDEAD)
        note_locked(mutex);
    return rc;
}

/* It says of itself that this task holds it already: EDEADLK. */
static bool is_own_errorcheck(const pthread_mutex_t *mutex)
{
    const struct holding *place;

    if ((mutex->__data.__kind & KIND_MASK) != PTHREAD_MUTEX_ERRORCHECK)
        return false;
    place = place_of(mutex);
    return place != NULL && place->mutex == mutex && place->task == coil_task_current();
}

static int lock_in_task(pthread_mutex_t *mutex)
{
    int64_t nap = 0;
    int rc;

    while ((rc = try_mutex(mutex)) == EBUSY && !is_own_errorcheck(mutex))
        posix__nap_anyhow(&nap);
    return rc == EBUSY ? EDEADLK : rc;
}

INTERPOSE int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!IN_TASK())
        return NEXT(pthread_mutex_lock)(mutex);
    return lock_in_task(mutex);
}

INTERPOSE int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (!IN_TASK())
        return NEXT(pthread_mutex_trylock)(mutex);
    return try_mutex(mutex);
}

INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                                      const struct timespec *restrict until)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK())
        return NEXT(pthread_mutex_timedlock)(mutex, until);
    while ((rc = try_mutex(mutex)) == EBUSY && !is_own_errorcheck(mutex)) {
        if (until->tv_nsec < 0 || until->tv_nsec >= COIL_SEC(1))
            return EINVAL;
        if (posix__clock(CLOCK_REALTIME) >= posix__nanoseconds(until))
            return ETIMEDOUT;
        posix__nap_anyhow(&nap);
    }
    return rc == EBUSY ? EDEADLK : rc;
}

INTERPOSE int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (held_count > 0)
        note_unlocked(mutex);
    return NEXT(pthread_mutex_unlock)(mutex);
}

/* ---- locks for readers and writers
 * --------------------------------------------------------- */

INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK())
        return NEXT(pthread_rwlock_rdlock)(lock);
    while ((rc = pthread_rwlock_tryrdlock(lock)) == EBUSY)
        posix__nap_anyhow(&nap);
    return rc;
}

INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK())
        return NEXT(pthread_rwlock_wrlock)(lock);
    while ((rc = pthread_rwlock_trywrlock(lock)) == EBUSY)
        posix__nap_anyhow(&nap);
    return rc;
}

/* ---- condition variables
 * ------------------------------------------------------------------- */

/* Let go of the mutex for a moment. */
static int wait_a_moment(pthread_mutex_t *mutex, int64_t span_ns)
{
    int saved = errno, rc;

    note_unlocked(mutex);
    rc = NEXT(pthread_mutex_unlock)(mutex);
    if (rc != 0)
        return rc;
    posix__sleep(span_ns);
    errno = saved;
    return lock_in_task(mutex);
}

/* The same, but not beyond a point of time. */
static int wait_until(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *t)
{
    int64_t left;
    int rc;

    if (t->tv_nsec < 0 || t->tv_nsec >= COIL_SEC(1))
        return EINVAL;
    left = posix__nanoseconds(t) - posix__clock(clock);
    rc = wait_a_moment(mutex, left < 0 ? 0 : left < ROUND ? left : ROUND);
    return rc == 0 && left <= ROUND ? ETIMEDOUT : rc;
}

/* The clock that it was made for: glibc keeps that in the second bit of its flags. */
static clockid_t clock_of(const pthread_cond_t *cond)
{
    return cond->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

INTERPOSE int pthread_cond_wait(pthread_cond_t *restrict cond,
                                pthread_mutex_t *restrict mutex)
{
    if (!IN_TASK())
        return NEXT(pthread_cond_wait)(cond, mutex);
    return wait_a_moment(mutex, ROUND);
}

INTERPOSE int pthread_cond_timedwait(pthread_cond_t *restrict cond,
                                     pthread_mutex_t *restrict mutex,
                                     const struct timespec *restrict until)
{
    if (!IN_TASK())
        return NEXT(pthread_cond_timedwait)(cond, mutex, until);
    return wait_until(mutex, clock_of(cond), until);
}

INTERPOSE int pthread_cond_clockwait(pthread_cond_t *restrict cond,
                                     pthread_mutex_t *restrict mutex, clockid_t clock,
                                     const struct timespec *restrict until)
{
    if (!IN_TASK() || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return NEXT(pthread_cond_clockwait)(cond, mutex, clock, until);
    return wait_until(mutex, clock, until);
}

/* ---- semaphores and threads
 * ------------------------------------------------------------------ */

INTERPOSE int sem_wait(sem_t *sem)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK())
        return NEXT(sem_wait)(sem);
    while ((rc = sem_trywait(sem)) < 0 && errno == EAGAIN)
        if (posix__nap(&nap, COIL_NEVER) < 0)
            break;
    return rc;
}

INTERPOSE int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict until)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK() || until->tv_nsec < 0 || until->tv_nsec >= COIL_SEC(1))
        return NEXT(sem_timedwait)(sem, until);
    while ((rc = sem_trywait(sem)) < 0 && errno == EAGAIN) {
        if (posix__clock(CLOCK_REALTIME) >= posix__nanoseconds(until)) {
            errno = ETIMEDOUT;
            break;
        }
        if (posix__nap(&nap, COIL_NEVER) < 0)
            break;
    }
    return rc;
}

INTERPOSE int pthread_join(pthread_t thread, void **result)
{
    int64_t nap = 0;
    int rc;

    if (!IN_TASK() || pthread_equal(thread, pthread_self()))
        return NEXT(pthread_join)(thread, result);
    while ((rc = pthread_tryjoin_np(thread, result)) == EBUSY)
        posix__nap_anyhow(&nap);
    return rc;
}
