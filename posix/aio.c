/*
 * aio.c - aio_suspend(3).
 *
 * glibc performs asynchronous I/O on threads, and wakes only those that wait inside it. So
 * the call is tried with a time-out of 0, again and again at growing intervals.
 */
#include "waiting.h"

#include <aio.h>

/* The sizes of struct aiocb and struct aiocb64 are the same on 64-bit systems. */
_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "two kinds of aiocb");

static int suspend_in_task(const struct aiocb *const *list, int n, int64_t deadline)
{
    static const struct timespec none;
    int saved = errno, rc;
    int64_t nap = 0;

    posix__fairly();
    while ((rc = NEXT(aio_suspend)(list, n, &none)) < 0 && errno == EAGAIN)
        if (posix__left(deadline) == 0 || posix__nap(&nap, deadline) < 0)
            break;
    if (rc == 0)
        errno = saved;
    return rc;
}

INTERPOSE int aio_suspend(const struct aiocb *const list[], int n,
                          const struct timespec *restrict timeout)
{
    if (!IN_TASK() || !posix__is_span(timeout))
        return NEXT(aio_suspend)(list, n, timeout);
    return suspend_in_task(list, n, posix__deadline(timeout));
}

INTERPOSE int aio_suspend64(const struct aiocb64 *const list[], int n,
                            const struct timespec *restrict timeout)
{
    if (!IN_TASK() || !posix__is_span(timeout))
        return NEXT(aio_suspend64)(list, n, timeout);
    return suspend_in_task((const struct aiocb *const *)list, n,
                           posix__deadline(timeout));
}
