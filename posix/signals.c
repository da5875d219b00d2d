/*
 * signals.c - sigwait(3) and its relatives; polling with a signal mask.
 *
 * These functions wait for a signalfd, which is readable when a blocked signal is
 * pending.
 */
#include "waiting.h"

#include <string.h>
#include <sys/signalfd.h>

/*
 * Open a signalfd for the signals that are blocked now but not in the mask. Returns -1 if
 * there is no such signal, or if signalfd(2) fails.
 */
static int open_unblocked_signals(const sigset_t *mask)
{
    sigset_t blocked, let_in;
    bool any = false;

    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    sigemptyset(&let_in);
    for (int signo = 1; signo <= SIGRTMAX; signo++) {
        if (sigismember(&blocked, signo) != 1 || sigismember(mask, signo) != 0)
            continue;
        sigaddset(&let_in, signo);
        any = true;
    }
    return any ? signalfd(-1, &let_in, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
}

static int poll_with(int signals, const struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    struct pollfd *all = malloc((n + 1) * sizeof *all);
    int rc;

    if (all == NULL)
        return -1;
    if (n > 0)
        memcpy(all, fds, n * sizeof *all);
    all[n] = (struct pollfd){.fd = signals, .events = POLLIN};
    rc = posix__poll(all, n + 1, timeout_ns);
    free(all);
    return rc < 0 ? -1 : 0;
}

int posix__poll_by_mask(struct pollfd *fds, nfds_t n, int64_t timeout_ns,
                        const sigset_t *mask)
{
    int signals = mask != NULL ? open_unblocked_signals(mask) : -1, rc, saved;

    if (signals < 0)
        return posix__poll(fds, n, timeout_ns) < 0 ? -1 : 0;
    rc = poll_with(signals, fds, n, timeout_ns);
    saved = errno;
    NEXT(close)(signals);
    errno = saved;
    return rc;
}

/*
 * Wait until a signal may be pending. If no signalfd could be opened (fd is -1), sleep
 * instead, a little longer each time, after which the caller checks for a signal. Returns
 * 0 or -1.
 */
static int wait_for_signal(int fd, int64_t *nap, int64_t deadline)
{
    struct pollfd pending = {.fd = fd, .events = POLLIN};

    if (fd < 0)
        return posix__nap(nap, deadline);
    return posix__poll(&pending, 1, posix__left(deadline)) < 0 ? -1 : 0;
}

static int take_signal(const sigset_t *set, siginfo_t *info, int64_t deadline)
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
    if (!IN_TASK() || !posix__is_span(timeout))
        return NEXT(sigtimedwait)(set, info, timeout);
    return take_signal(set, info, posix__deadline(timeout));
}

INTERPOSE int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    if (!IN_TASK())
        return NEXT(sigwaitinfo)(set, info);
    return take_signal(set, info, COIL_NEVER);
}

INTERPOSE int sigwait(const sigset_t *restrict set, int *restrict signo)
{
    int saved = errno, got;

    if (!IN_TASK())
        return NEXT(sigwait)(set, signo);
    got = take_signal(set, NULL, COIL_NEVER);
    if (got < 0) {
        got = errno;
        errno = saved;
        return got; /* sigwait() returns the error and preserves errno */
    }
    *signo = got;
    return 0;
}
