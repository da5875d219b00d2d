/*
 * polling.c - poll(2), ppoll(2), epoll_wait(2) and their relatives.
 *
 * Each function first calls the C library's function with a time-out of 0, which reports
 * invalid arguments and descriptors that are ready. For poll(2), coil_poll() makes this
 * call. If none is ready, the task waits in coil_poll(). An epoll descriptor is readable
 * when one of its descriptors is ready. A signal mask is in force only during the C
 * library's calls. If a signal is otherwise blocked but the mask unblocks it, the signal
 * ends the wait, and the next call of the C library delivers it.
 */
#include "waiting.h"

static int64_t of_milliseconds(int timeout_ms)
{
    return timeout_ms < 0 ? COIL_NEVER : COIL_MSEC(timeout_ms);
}

static int poll_in_task(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    int count;

    posix__fairly();
    if (n > 0 && fds != NULL && timeout_ns != 0)
        return posix__poll(fds, n, timeout_ns); /* first polls without waiting */
    count = NEXT(poll)(fds, n, 0);
    return count != 0 || timeout_ns == 0 ? count : posix__pause(timeout_ns);
}

INTERPOSE int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    if (!IN_TASK())
        return NEXT(poll)(fds, n, timeout_ms);
    return poll_in_task(fds, n, of_milliseconds(timeout_ms));
}

INTERPOSE int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size)
{
    if (!IN_TASK() || size / sizeof *fds < n)
        return NEXT(__poll_chk)(fds, n, timeout_ms, size);
    return poll_in_task(fds, n, of_milliseconds(timeout_ms));
}

static int ppoll_in_task(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                         const sigset_t *mask)
{
    static const struct timespec none;
    int64_t deadline = posix__deadline(timeout);

    posix__fairly();
    for (;;) {
        int count = NEXT(ppoll)(fds, n, &none, mask);

        if (count != 0 || posix__left(deadline) == 0)
            return count;
        if (mask == NULL && n == 0)
            return posix__pause(posix__left(deadline));
        if (mask == NULL)
            return posix__poll(fds, n, posix__left(deadline));
        if (posix__poll_by_mask(fds, n, posix__left(deadline), mask) < 0)
            return -1;
    }
}

INTERPOSE int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                    const sigset_t *mask)
{
    if (!IN_TASK() || !posix__is_span(timeout))
        return NEXT(ppoll)(fds, n, timeout, mask);
    return ppoll_in_task(fds, n, timeout, mask);
}

INTERPOSE int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                          const sigset_t *mask, size_t size)
{
    if (!IN_TASK() || !posix__is_span(timeout) || size / sizeof *fds < n)
        return NEXT(__ppoll_chk)(fds, n, timeout, mask, size);
    return ppoll_in_task(fds, n, timeout, mask);
}

/* ---- epoll ------------------------------------------------------------------------- */

/*
 * Wait for events. Returns 0 or -1. A cancellation is reported as EINTR, after which
 * event loops wait again. Event loops treat any other errno as a bug: libuv, for example,
 * aborts.
 */
static int wait_for_events(struct pollfd *set, int64_t timeout_ns, const sigset_t *mask)
{
    coil_scope scope;
    bool held = posix__may_wait() && posix__hold_pause(&scope);
    int rc = posix__poll_by_mask(set, 1, timeout_ns, mask);

    if (rc < 0 && errno == ECANCELED)
        errno = EINTR;
    posix__release_cancel(&scope, held);
    return rc;
}

/* Wait in a loop, because another task may take the events after the wait. */
static int epoll_in_task(int epoll_fd, struct epoll_event *events, int n,
                         int64_t timeout_ns, const sigset_t *mask)
{
    static const struct timespec none;
    int64_t deadline = timeout_ns == COIL_NEVER ? COIL_NEVER : coil_in(timeout_ns);

    posix__fairly();
    for (;;) {
        int count = NEXT(epoll_pwait)(epoll_fd, events, n, 0, mask);
        struct pollfd set = {.fd = epoll_fd, .events = POLLIN};

        if (count != 0 || posix__left(deadline) == 0)
            return count;
        if (wait_for_events(&set, posix__left(deadline), mask) < 0)
            return -1;
        /* epoll_pwait() with a time-out of 0 delivers no signal; ppoll() does. */
        if (mask != NULL && NEXT(ppoll)(&set, 1, &none, mask) < 0)
            return -1;
    }
}

INTERPOSE int epoll_wait(int epoll_fd, struct epoll_event *events, int n, int timeout_ms)
{
    if (!IN_TASK())
        return NEXT(epoll_wait)(epoll_fd, events, n, timeout_ms);
    return epoll_in_task(epoll_fd, events, n, of_milliseconds(timeout_ms), NULL);
}

INTERPOSE int epoll_pwait(int epoll_fd, struct epoll_event *events, int n, int timeout_ms,
                          const sigset_t *mask)
{
    if (!IN_TASK())
        return NEXT(epoll_pwait)(epoll_fd, events, n, timeout_ms, mask);
    return epoll_in_task(epoll_fd, events, n, of_milliseconds(timeout_ms), mask);
}

INTERPOSE int epoll_pwait2(int epoll_fd, struct epoll_event *events, int n,
                           const struct timespec *timeout, const sigset_t *mask)
{
    if (!IN_TASK() || !posix__is_span(timeout))
        return NEXT(epoll_pwait2)(epoll_fd, events, n, timeout, mask);
    return epoll_in_task(epoll_fd, events, n,
                         timeout != NULL ? posix__nanoseconds(timeout) : COIL_NEVER,
                         mask);
}
