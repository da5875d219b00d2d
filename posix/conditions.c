/*
 * conditions.c - pthread_cond_wait(3) and its relatives.
 *
 * A task waits in this library's list (parking.c), not in the C library. A signal wakes a
 * task if one is waiting; otherwise the C library wakes a thread.
 *
 * A wait for a condition cannot fail. In a cancelled task, the first wait returns as if
 * the condition had been signalled, and all later waits are shielded.
 */
#include "holding.h"
#include "parking.h"

#include <coil/debug.h>
#include <coil/scope.h>
#include <coil/task.h>

/*
 * A wait without a time-out ends with a spurious wake-up after ROUND, because a call that
 * bypasses this library may have signalled the condition. POSIX allows spurious wake-ups.
 * If processes share a condition, another process may signal it unnoticed, so every wait
 * for such a condition ends after SHARED_ROUND.
 */
#define ROUND COIL_SEC(1)
#define SHARED_ROUND COIL_MSEC(1)

/*
 * The condition that a task of this thread has waited for most recently, or NULL if the
 * thread has unlocked a mutex since then. If the task waits for the same condition again,
 * it has only checked its predicate in the meantime: changing the state for which other
 * tasks wait would require unlocking the mutex.
 */
THREAD_LOCAL const void *posix__latest_cond;

/* glibc's __wrefs: bit 1 is set for CLOCK_MONOTONIC, bit 0 for PTHREAD_PROCESS_SHARED. */
static clockid_t clock_of(const pthread_cond_t *cond)
{
    return cond->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

static bool is_shared(const pthread_cond_t *cond)
{
    return cond->__data.__wrefs & 1;
}

/*
 * Return how long a wait may be parked: until its time-out or its spurious wake-up. The
 * interval between spurious wake-ups grows with the number of parked tasks, to limit
 * their total cost.
 */
static int64_t round_of(const pthread_cond_t *cond, int64_t left)
{
    int64_t all = atomic_load(&posix__parked_total) * COIL_MSEC(1);
    int64_t round = is_shared(cond) ? SHARED_ROUND : left == COIL_NEVER ? ROUND : left;

    if (round < all && (is_shared(cond) || left == COIL_NEVER))
        round = all;
    return round < left ? round : left;
}

/*
 * Park the task, in a shield if its cancellation was already delivered. Returns 0 or -1.
 */
static int park_after_cancel(struct posix__parked *p, int64_t span_ns)
{
    coil_scope shield;
    bool shielded =
        coil_cancel_delivered() && coil_scope_enter_shielded(&shield, COIL_NEVER) == 0;
    int rc = posix__park(p, span_ns);

    if (shielded)
        coil_scope_exit(&shield, 0);
    return rc;
}

static int park_until_end(struct posix__parked *p, int64_t span_ns, bool *woken)
{
    int rc = park_after_cancel(p, span_ns);

    *woken = posix__park_end(p);
    return rc;
}

/*
 * Like park_until_end(), for a wait without a time-out, which the deadlock detector takes
 * into account. `again` means that the task has just waited for the same condition.
 */
static int park_counted(struct posix__parked *p, const pthread_cond_t *cond,
                        int64_t span_ns, bool again, bool *woken)
{
    unsigned flags = (is_shared(cond) ? COIL_LOCK_WAIT_OUTSIDE : 0) |
                     (again ? COIL_LOCK_WAIT_AGAIN : 0);
    coil_lock_wait wait;
    int rc;

    coil_lock_wait_begin(&wait, NULL, flags);
    rc = park_until_end(p, span_ns, woken);
    if (rc == 0 && !*woken)
        coil_lock_wait_lapse(&wait);
    else
        coil_lock_wait_end(&wait);
    return rc;
}

/*
 * Unlock the mutex, wait to be woken, and lock the mutex again. The caller has called
 * posix__park_begin(), so no signal is missed. `again` means that the task has just
 * waited for the same condition.
 */
static int wait_parked(struct posix__parked *p, const pthread_cond_t *cond,
                       pthread_mutex_t *mutex, int64_t left, bool again)
{
    int64_t round = round_of(cond, left);
    bool woken;
    int rc = pthread_mutex_unlock(mutex), waited, saved = errno;

    if (rc != 0) {
        if (posix__park_end(p))
            posix__unpark(cond); /* pass the signal on to another task */
        return rc;
    }
    waited = left == COIL_NEVER ? park_counted(p, cond, round, again, &woken)
                                : park_until_end(p, round, &woken);
    errno = saved;
    rc = pthread_mutex_lock(mutex);
    posix__latest_cond = cond;
    return rc == 0 && !woken && waited == 0 && round == left ? ETIMEDOUT : rc;
}

/*
 * Wake a task that waits for the mutex. Called before the C library's wait, which unlocks
 * the mutex without calling this library's pthread_mutex_unlock(). If the woken task
 * finds the mutex still locked, it soon tries again.
 */
static void announce_unlock(pthread_mutex_t *mutex)
{
    posix__note_unlocked(mutex);
    if (posix__may_be_parked(mutex))
        posix__unpark(mutex);
}

INTERPOSE int pthread_cond_wait(pthread_cond_t *restrict cond,
                                pthread_mutex_t *restrict mutex)
{
    bool again = posix__latest_cond == cond;
    struct posix__parked p;

    if (IN_TASK() && posix__park_begin(&p, cond))
        return wait_parked(&p, cond, mutex, COIL_NEVER, again);
    announce_unlock(mutex);
    return NEXT(pthread_cond_wait)(cond, mutex);
}

static int wait_until(struct posix__parked *p, const pthread_cond_t *cond,
                      pthread_mutex_t *mutex, clockid_t clock,
                      const struct timespec *time)
{
    return wait_parked(p, cond, mutex,
                       posix__left_until(&(struct posix__until){clock, time}), false);
}

INTERPOSE int pthread_cond_timedwait(pthread_cond_t *restrict cond,
                                     pthread_mutex_t *restrict mutex,
                                     const struct timespec *restrict time)
{
    struct posix__parked p;

    if (!posix__is_time(time)) /* fail with EINVAL, and keep the mutex locked */
        return NEXT(pthread_cond_timedwait)(cond, mutex, time);
    if (IN_TASK() && posix__park_begin(&p, cond))
        return wait_until(&p, cond, mutex, clock_of(cond), time);
    announce_unlock(mutex);
    return NEXT(pthread_cond_timedwait)(cond, mutex, time);
}

INTERPOSE int pthread_cond_clockwait(pthread_cond_t *restrict cond,
                                     pthread_mutex_t *restrict mutex, clockid_t clock,
                                     const struct timespec *restrict time)
{
    struct posix__parked p;

    if (!posix__is_clock_of_locks(clock) || !posix__is_time(time))
        return NEXT(pthread_cond_clockwait)(cond, mutex, clock, time);
    if (IN_TASK() && posix__park_begin(&p, cond))
        return wait_until(&p, cond, mutex, clock, time);
    announce_unlock(mutex);
    return NEXT(pthread_cond_clockwait)(cond, mutex, clock, time);
}

/*
 * Wake a waiting task, or a thread if no task is waiting. No task waits for libcoil's own
 * condition variables.
 */
INTERPOSE int pthread_cond_signal(pthread_cond_t *cond)
{
    if (posix__may_be_parked(cond) && !posix__may_block(__builtin_return_address(0)) &&
        posix__unpark(cond))
        return 0;
    return NEXT(pthread_cond_signal)(cond);
}

INTERPOSE int pthread_cond_broadcast(pthread_cond_t *cond)
{
    if (posix__may_be_parked(cond) && !posix__may_block(__builtin_return_address(0)))
        posix__unpark_all(cond);
    return NEXT(pthread_cond_broadcast)(cond);
}
