/*
 * c11.c - C11's mutexes, condition variables and threads, <threads.h>.
 *
 * In glibc each object is a POSIX object under another name, so each function calls the
 * interposed POSIX function. Functions that unlock or signal call the POSIX function even
 * outside of tasks, because that function records which task holds a recursive mutex, and
 * wakes waiting tasks.
 */
#include "waiting.h"

#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) &&
                   sizeof(cnd_t) == sizeof(pthread_cond_t) &&
                   sizeof(thrd_t) == sizeof(pthread_t),
               "glibc's C11 types are its POSIX types");

static int c11_result(int rc)
{
    switch (rc) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

/* ---- mutexes ----------------------------------------------------------------------- */

INTERPOSE int mtx_lock(mtx_t *mutex)
{
    if (!IN_TASK())
        return NEXT(mtx_lock)(mutex);
    return c11_result(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

INTERPOSE int mtx_trylock(mtx_t *mutex)
{
    if (!IN_TASK())
        return NEXT(mtx_trylock)(mutex);
    return c11_result(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

INTERPOSE int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict time)
{
    if (!IN_TASK())
        return NEXT(mtx_timedlock)(mutex, time);
    return c11_result(pthread_mutex_timedlock((pthread_mutex_t *)mutex, time));
}

INTERPOSE int mtx_unlock(mtx_t *mutex)
{
    return c11_result(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

/* ---- condition variables ----------------------------------------------------------- */

INTERPOSE int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    if (!IN_TASK())
        return NEXT(cnd_wait)(cond, mutex);
    return c11_result(
        pthread_cond_wait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex));
}

INTERPOSE int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
                            const struct timespec *restrict time)
{
    if (!IN_TASK())
        return NEXT(cnd_timedwait)(cond, mutex, time);
    return c11_result(
        pthread_cond_timedwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, time));
}

INTERPOSE int cnd_signal(cnd_t *cond)
{
    return c11_result(pthread_cond_signal((pthread_cond_t *)cond));
}

INTERPOSE int cnd_broadcast(cnd_t *cond)
{
    return c11_result(pthread_cond_broadcast((pthread_cond_t *)cond));
}

/* ---- threads ----------------------------------------------------------------------- */

INTERPOSE int thrd_join(thrd_t thread, int *result)
{
    void *value = NULL;
    int rc;

    if (!IN_TASK())
        return NEXT(thrd_join)(thread, result);
    rc = pthread_join((pthread_t)thread, &value);
    if (rc == 0 && result != NULL)
        *result = (int)(intptr_t)value;
    return c11_result(rc);
}

/*
 * C11 specifies -1 if a signal interrupts the sleep, and another negative value for any
 * other failure. The interposed nanosleep() also fails if the task is cancelled.
 */
INTERPOSE int thrd_sleep(const struct timespec *span, struct timespec *left)
{
    int saved = errno, rc;

    if (!IN_TASK())
        return NEXT(thrd_sleep)(span, left);
    rc = nanosleep(span, left);
    if (rc < 0)
        rc = errno == EINTR ? -1 : -2;
    errno = saved;
    return rc;
}

INTERPOSE void thrd_yield(void)
{
    if (!IN_TASK())
        NEXT(thrd_yield)();
    else
        sched_yield();
}
