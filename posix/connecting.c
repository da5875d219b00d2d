/*
 * connecting.c - connect(2) and accept(2).
 *
 * Neither call has a flag that makes a single call non-blocking, but both obey the
 * socket's time-out (SO_SNDTIMEO, SO_RCVTIMEO). During the call, the time-out is set to
 * the shortest possible one, a tick of the kernel's clock (1 to 10 ms). The socket's own
 * time-out is restored before another task can see the change. How long the call waits
 * depends on the case:
 *
 * - connect() over loopback, or to a local socket, completes at once. Any other connect()
 *   that does not complete during the tick fails with EINPROGRESS, and the kernel
 *   continues to connect. When the
 *   socket is writable, a second connect() returns the result.
 * - connect() to a local listener whose queue is full fails with EAGAIN after the tick.
 *   No event reports that the queue has space again. A thread of the waiting lane
 *   (posix__waiting_lane()) makes further attempts, and may block for the tick. Other
 *   tasks can see the short time-out during these attempts.
 * - accept() is called when a connection is waiting. The call waits for the tick only if
 *   another process has taken that connection.
 *
 * A signal that arrives during the tick ends the call with EINTR, even if its handler was
 * installed with SA_RESTART: see signal(7). The interposed function then continues as
 * after the tick.
 */
#include "waiting.h"

#include <sys/time.h>

/* ---- a call with the shortest time-out --------------------------------------------- */

struct short_time_out {
    int fd, option;
    struct timeval before;
};

/*
 * Set the socket's time-out to the shortest possible one. Returns false if the descriptor
 * is not a socket.
 */
static bool shorten_time_out(struct short_time_out *t, int fd, int option)
{
    struct timeval shortest = {.tv_usec = 1};
    socklen_t length = sizeof t->before;

    t->fd = fd;
    t->option = option;
    return getsockopt(fd, SOL_SOCKET, option, &t->before, &length) == 0 &&
           setsockopt(fd, SOL_SOCKET, option, &shortest, sizeof shortest) == 0;
}

static void restore_time_out(const struct short_time_out *t)
{
    int saved = errno;

    setsockopt(t->fd, SOL_SOCKET, t->option, &t->before, sizeof t->before);
    errno = saved;
}

/* ---- connect() --------------------------------------------------------------------- */

static int connect_for_a_tick(int fd, __CONST_SOCKADDR_ARG to, socklen_t bytes)
{
    struct short_time_out t;
    int rc;

    if (!shorten_time_out(&t, fd, SO_SNDTIMEO))
        return NEXT(connect)(fd, to, bytes);
    rc = NEXT(connect)(fd, to, bytes);
    restore_time_out(&t);
    return rc;
}

struct attempt {
    int fd, rc, error;
    __CONST_SOCKADDR_ARG to;
    socklen_t bytes;
};

static int attempt_blocking(void *arg)
{
    struct attempt *a = arg;

    a->rc = connect_for_a_tick(a->fd, a->to, a->bytes);
    a->error = errno;
    return 0;
}

/*
 * Try to connect on a thread of the lane. If no thread can be started, block this thread
 * for the tick.
 */
static int connect_on_lane(int fd, __CONST_SOCKADDR_ARG to, socklen_t bytes)
{
    struct attempt a = {.fd = fd, .to = to, .bytes = bytes};
    coil_lane lane;
    int rc;

    rc = posix__may_wait() && posix__waiting_lane(&lane)
             ? posix__blocking(lane, attempt_blocking, &a)
             : -EAGAIN;
    if (rc < 0 && rc != -ECANCELED)
        return connect_for_a_tick(fd, to, bytes);
    errno = rc < 0 ? -rc : a.error;
    return rc < 0 ? -1 : a.rc;
}

/*
 * Nap because the queue of a local listener is full. Returns 0 to try again, or -1 if the
 * time-out has passed or the task was cancelled.
 */
static int wait_for_room_in_queue(int64_t deadline, int64_t *nap)
{
    if (posix__nap(nap, deadline) < 0)
        return -1;
    if (posix__left(deadline) > 0)
        return 0;
    errno = EAGAIN;
    return -1;
}

/* Wait until the connection is made or refused. Returns 0 or -1. */
static int wait_for_connection(struct posix__waiting *w)
{
    int rc = posix__await(w);

    if (rc == 0)
        errno = EINPROGRESS; /* SO_SNDTIMEO has passed: socket(7) */
    return rc > 0 ? 0 : -1;
}

static int connect_in_task(int fd, __CONST_SOCKADDR_ARG to, socklen_t bytes)
{
    struct posix__waiting w = {.fd = fd, .events = POLLOUT};
    int64_t deadline = posix__socket_deadline(fd, SO_SNDTIMEO), nap = 0;

    w.begun = true;
    w.deadline = deadline;
    for (;;) {
        int rc =
            nap == 0 ? connect_for_a_tick(fd, to, bytes) : connect_on_lane(fd, to, bytes);

        if (rc == 0)
            return 0;
        if ((errno == EAGAIN || errno == EINTR) && to.__sockaddr__->sa_family == AF_UNIX)
            rc = wait_for_room_in_queue(deadline, &nap);
        else if (errno == EINPROGRESS || errno == EALREADY || errno == EINTR)
            rc = wait_for_connection(&w);
        if (rc < 0)
            return -1;
    }
}

INTERPOSE int connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t bytes)
{
    if (!IN_TASK() || !posix__blocks(fd) || to.__sockaddr__ == NULL)
        return NEXT(connect)(fd, to, bytes);
    posix__fairly();
    return connect_in_task(fd, to, bytes);
}

/* ---- accept() ---------------------------------------------------------------------- */

#define LONGEST_TICK_US 10000 /* the tick of a kernel with CONFIG_HZ=100 */

static bool is_listening(int fd)
{
    int listening = 0;
    socklen_t length = sizeof listening;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) == 0 &&
           listening != 0;
}

/*
 * A TCP connection inherits the time-out that its listener had when the handshake ended.
 * If the listener had the shortened time-out at that moment, give the connection the
 * listener's original time-out.
 */
static void undo_inherited_time_out(int fd, const struct timeval *of_listener)
{
    struct timeval t = {0, 0};
    socklen_t length = sizeof t;
    int saved = errno;

    if (getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, &length) == 0 && t.tv_sec == 0 &&
        t.tv_usec > 0 && t.tv_usec <= LONGEST_TICK_US &&
        (of_listener->tv_sec != 0 || of_listener->tv_usec != t.tv_usec))
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, of_listener, sizeof *of_listener);
    errno = saved;
}

static int accept_for_a_tick(int fd, __SOCKADDR_ARG from, socklen_t *bytes, int flags)
{
    struct short_time_out t;
    int rc;

    if (!shorten_time_out(&t, fd, SO_RCVTIMEO))
        return -1;
    rc = NEXT(accept4)(fd, from, bytes, flags);
    restore_time_out(&t);
    if (rc >= 0)
        undo_inherited_time_out(rc, &t.before);
    return rc;
}

static int accept_in_task(int fd, __SOCKADDR_ARG from, socklen_t *bytes, int flags)
{
    struct posix__waiting w = {.fd = fd, .events = POLLIN};
    int rc = 0, got = -1;

    while (got < 0) {
        rc = posix__await(&w);
        if (rc == 0)
            errno = EAGAIN;
        if (rc <= 0)
            return -1;
        got = accept_for_a_tick(fd, from, bytes, flags);
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return -1;
    }
    return got;
}

INTERPOSE int accept(int fd, __SOCKADDR_ARG from, socklen_t *restrict bytes)
{
    if (!IN_TASK() || !posix__blocks(fd) || !is_listening(fd))
        return NEXT(accept)(fd, from, bytes);
    posix__fairly();
    return accept_in_task(fd, from, bytes, 0);
}

INTERPOSE int accept4(int fd, __SOCKADDR_ARG from, socklen_t *restrict bytes, int flags)
{
    if (!IN_TASK() || !posix__blocks(fd) || !is_listening(fd))
        return NEXT(accept4)(fd, from, bytes, flags);
    posix__fairly();
    return accept_in_task(fd, from, bytes, flags);
}
