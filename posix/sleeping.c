/*
 * sleeping.c - nanosleep(2) and its relatives, on the loop's clock.
 *
 * An absolute time is converted to a span once, when the function is called. Setting the
 * clock during the sleep therefore has no effect. A cancelled sleep returns the remaining
 * time.
 */
#include "waiting.h"

#include <coil/task.h>

static int sleep_in_task(int64_t span_ns, struct timespec *left)
{
    int64_t deadline = coil_in(span_ns);

    if (posix__pause(span_ns) == 0)
        return 0;
    if (left != NULL)
        *left = posix__timespec(posix__left(deadline));
    return -1;
}

INTERPOSE int nanosleep(const struct timespec *span, struct timespec *left)
{
    if (!IN_TASK() || span == NULL || !posix__is_span(span))
        return NEXT(nanosleep)(span, left);
    return sleep_in_task(posix__nanoseconds(span), left);
}

INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
                              struct timespec *left)
{
    bool simple = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ||
                  clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
    int saved = errno, rc;

    if (!IN_TASK() || !simple || t == NULL || !posix__is_span(t))
        return NEXT(clock_nanosleep)(clock, flags, t, left);
    if (flags & TIMER_ABSTIME)
        rc = sleep_in_task(posix__nanoseconds(t) - posix__clock(clock), NULL);
    else
        rc = sleep_in_task(posix__nanoseconds(t), left);
    if (rc == 0)
        return 0;
    rc = errno; /* only clock_nanosleep() returns the error and preserves errno */
    errno = saved;
    return rc;
}

INTERPOSE int usleep(useconds_t span_us)
{
    if (!IN_TASK())
        return NEXT(usleep)(span_us);
    return sleep_in_task(COIL_USEC(span_us), NULL);
}

INTERPOSE unsigned sleep(unsigned span_s)
{
    struct timespec left = {0, 0};

    if (!IN_TASK())
        return NEXT(sleep)(span_s);
    if (sleep_in_task(COIL_SEC(span_s), &left) == 0)
        return 0;
    return (unsigned)left.tv_sec + (left.tv_nsec > 0);
}

INTERPOSE int sched_yield(void)
{
    if (!IN_TASK() || !posix__may_wait())
        return NEXT(sched_yield)();
    posix__yield();
    return 0;
}
