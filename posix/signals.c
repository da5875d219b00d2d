/*
 * signals.c - sigwait(3) and its relatives, woken by a signalfd.
 *
 * pause(2) and sigsuspend(2) wait for a handler to run, which nobody tells of: they are
 * the C library's, and stop the thread.
 */
#include "waiting.h"

#include <sys/signalfd.h>

/* 0 when there may be one, or -1. Without a descriptor to spare, look now and then. */
static int wait_for_signal(int fd, int64_t *nap, int64_t deadline)
{
    struct pollfd pending = {.fd = fd, .events = POLLIN};

    if (fd < 0)
        return posix__nap(nap, deadline);
    return posix__poll(&pending, 1, posix__left(deadline)) < 0 ? -1 : 0;
}

static int take(const sigset_t *set, siginfo_t *info, int64_t deadline)
{
    static const struct timespec none;
    int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
    int64_t nap = 0;
    int signo, saved;

    for (;;) {
        bool late = posix__left(deadline) == 0;

        signo = NEXT(sigtimedwait)(set, info, &none);
        if (signo >= 0 || errno != EAGAIN || late)
            break;
        if (wait_for_signal(fd, &nap, deadline) < 0)
            break;
    }
    saved = errno;
    if (fd >= 0)
        NEXT(close)(fd);
    errno = saved;
    return signo;
}

INTERPOSE int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                           const struct timespec *restrict timeout)
{
    if (!IN_TASK() || (timeout != NULL && (timeout->tv_sec < 0 || timeout->tv_nsec < 0 ||
                                           timeout->tv_nsec >= COIL_SEC(1))))
        return NEXT(sigtimedwait)(set, info, timeout);
    return take(set, info, posix__deadline(timeout));
}

INTERPOSE int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    if (!IN_TASK())
        return NEXT(sigwaitinfo)(set, info);
    return take(set, info, COIL_NEVER);
}

INTERPOSE int sigwait(const sigset_t *restrict set, int *restrict signo)
{
    int saved = errno, got;

    if (!IN_TASK())
        return NEXT(sigwait)(set, signo);
    got = take(set, NULL, COIL_NEVER);
    if (got < 0) {
        got = errno;
        errno = saved;
        return got; /* it returns the error */
    }
    *signo = got;
    return 0;
}
