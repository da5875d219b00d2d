/*
 * joining.c - pthread_join(3) and its relatives.
 *
 * When a thread ends, only threads that wait inside the C library are woken. Therefore a
 * thread of the waiting lane (posix__waiting_lane()) joins on behalf of the task, and the
 * task awaits the lane's thread. Joining in this way works for every thread, and the task
 * continues only after the joined thread's destructors have run. The alternative, an
 * interposed pthread_create() that wraps the start function, would wake the task before
 * the destructors run, and would miss threads created by calls that bypass this library.
 *
 * pthread_join() cannot fail because of a cancellation, so it is shielded. A timed join
 * times out on the lane's thread, and the thread stays joinable.
 *
 * A waiting join occupies a thread of the lane. At most MOST_ON_LANE joins wait there at
 * the same time, which leaves threads for system() and pclose(). Any other join, or a
 * join for which no lane or thread is available, is attempted at growing intervals.
 */
#include "waiting.h"

#include <stdatomic.h>

#define MOST_ON_LANE 256

struct join {
    pthread_t thread;
    void **result;
    struct posix__until until;
    int rc;
};

static _Atomic unsigned joins_on_lane;

/* Reset the count in a child of fork(2), where the joins of the parent never end. */
static void forget_joins(void)
{
    atomic_store(&joins_on_lane, 0);
}

__attribute__((constructor)) static void forget_joins_after_fork(void)
{
    pthread_atfork(NULL, NULL, forget_joins);
}

/* Runs on a thread of the lane, which the join may block. */
static int join_blocking(void *arg)
{
    struct join *j = arg;

    j->rc = j->until.time == NULL
                ? NEXT(pthread_join)(j->thread, j->result)
                : NEXT(pthread_clockjoin_np)(j->thread, j->result, j->until.clock,
                                             j->until.time);
    return 0;
}

/*
 * Join on a thread of the lane. Returns false if MOST_ON_LANE joins are waiting there, or
 * if no lane or thread is available.
 */
static bool join_on_lane(struct join *j)
{
    bool done = false;
    coil_lane lane;

    if (atomic_fetch_add(&joins_on_lane, 1) < MOST_ON_LANE && posix__waiting_lane(&lane))
        done = posix__blocking_shielded(lane, join_blocking, j) == 0;
    atomic_fetch_sub(&joins_on_lane, 1);
    return done;
}

static int join_by_naps(struct join *j)
{
    int64_t nap = 0, left;
    int rc;

    while ((rc = pthread_tryjoin_np(j->thread, j->result)) == EBUSY) {
        left = posix__left_until(&j->until);
        if (left <= 0)
            return ETIMEDOUT;
        posix__nap_shielded(&nap, coil_in(left));
    }
    return rc;
}

static int join_in_task(struct join *j)
{
    int rc = pthread_tryjoin_np(j->thread, j->result);

    if (rc != EBUSY)
        return rc;
    if (j->until.time != NULL && !posix__is_time(j->until.time))
        return EINVAL; /* glibc 2.36 would loop endlessly */
    return join_on_lane(j) ? j->rc : join_by_naps(j);
}

/* A thread that joins itself gets EDEADLK from the C library. */
#define JOINS_IN_TASK(thread)                                                            \
    (IN_TASK() && !pthread_equal(thread, pthread_self()) && posix__may_wait())

INTERPOSE int pthread_join(pthread_t thread, void **result)
{
    struct join j = {.thread = thread, .result = result};

    if (!JOINS_IN_TASK(thread))
        return NEXT(pthread_join)(thread, result);
    return join_in_task(&j);
}

INTERPOSE int pthread_timedjoin_np(pthread_t thread, void **result,
                                   const struct timespec *time)
{
    struct join j = {.thread = thread, .result = result, .until = {CLOCK_REALTIME, time}};

    if (!JOINS_IN_TASK(thread))
        return NEXT(pthread_timedjoin_np)(thread, result, time);
    return join_in_task(&j);
}

INTERPOSE int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                                   const struct timespec *time)
{
    struct join j = {.thread = thread, .result = result, .until = {clock, time}};

    if (!JOINS_IN_TASK(thread) || !posix__is_clock_of_locks(clock))
        return NEXT(pthread_clockjoin_np)(thread, result, clock, time);
    return join_in_task(&j);
}
