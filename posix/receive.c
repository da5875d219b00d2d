/*
 * receive.c - recv(2) and its relatives.
 *
 * MSG_DONTWAIT makes one call non-blocking, whatever the socket's mode. But a blocking
 * call does more than wait: with MSG_WAITALL it receives until the buffer is full, and
 * recvmmsg(2) receives several messages. This file implements both with several
 * non-blocking calls. After the first bytes, recv(2) is called again only once more bytes
 * have arrived. Otherwise that call could find no bytes, and consume a pending error that
 * must remain for the caller's next call.
 */
#include "receive.h"

#include <netinet/in.h>
#include <sys/ioctl.h>

/* Reading the error queue or urgent data never waits, not even in blocking mode. */
#define NEVER_WAITS (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)

size_t posix__total(const struct iovec *parts, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += parts[i].iov_len;
    return total;
}

size_t posix__rest(const struct iovec *parts, size_t count, size_t done,
                   struct iovec rest[POSIX__PLACES])
{
    size_t n = 0;

    for (size_t i = 0; i < count && n < POSIX__PLACES; i++) {
        if (done >= parts[i].iov_len) {
            done -= parts[i].iov_len;
            continue;
        }
        rest[n++] = (struct iovec){.iov_base = (char *)parts[i].iov_base + done,
                                   .iov_len = parts[i].iov_len - done};
        done = 0;
    }
    return n;
}

/* ---- MSG_WAITALL ------------------------------------------------------------------- */

static int socket_option(int fd, int option)
{
    int value = 0, saved = errno;
    socklen_t length = sizeof value;

    if (getsockopt(fd, SOL_SOCKET, option, &value, &length) < 0)
        errno = saved;
    return value;
}

/*
 * The kernel obeys MSG_WAITALL on all stream sockets, but the combination with MSG_PEEK
 * only on TCP sockets.
 */
static bool waits_for_all(int fd, int flags)
{
    if (!(flags & MSG_WAITALL) || !posix__blocks(fd))
        return false;
    if (flags & MSG_PEEK)
        return socket_option(fd, SO_PROTOCOL) == IPPROTO_TCP;
    return socket_option(fd, SO_TYPE) == SOCK_STREAM;
}

/* True if there are unread bytes, or if the kernel does not report their number. */
static bool has_bytes(int fd)
{
    int unread = 0;

    return ioctl(fd, FIONREAD, &unread) < 0 || unread > 0;
}

/*
 * Wait for bytes without receiving, so that the error of a connection that is reset in
 * the meantime is not consumed. Returns false if no bytes will arrive, or if none arrived
 * in time. POLLERR alone does not end the wait, because it may mean a message in the
 * error queue of a connection that still works.
 */
static bool await_bytes(struct posix__waiting *w)
{
    while (!has_bytes(w->fd)) {
        if (posix__polls(w->fd, POLLIN | POLLHUP))
            return has_bytes(w->fd);
        errno = EAGAIN;
        if (!posix__again(w))
            return false;
    }
    return true;
}

/* Receive the bytes after the first `done` bytes. Returns the total number of bytes. */
static ssize_t receive_rest(struct posix__waiting *w, const struct iovec *parts,
                            size_t count, size_t done, int flags)
{
    size_t total = posix__total(parts, count);
    struct iovec rest[POSIX__PLACES];

    while (done < total && await_bytes(w)) {
        struct msghdr message = {.msg_iov = rest};
        ssize_t n;

        message.msg_iovlen = posix__rest(parts, count, done, rest);
        n = NEXT(recvmsg)(w->fd, &message, flags | MSG_DONTWAIT);
        if (n == 0 || (n < 0 && !posix__again(w)))
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)done;
}

/* With MSG_PEEK the data stays in the socket, which is therefore always readable. Peek
 * again at growing intervals, until the buffer is full or the peer has closed. */
static ssize_t peek_all(struct posix__waiting *w, void *buf, size_t n, size_t done,
                        int flags)
{
    int64_t deadline = posix__socket_deadline(w->fd, SO_RCVTIMEO), nap = 0;
    ssize_t result = (ssize_t)done;

    while (result > 0 && (size_t)result < n && posix__left(deadline) > 0) {
        struct pollfd fd = {.fd = w->fd, .events = POLLRDHUP};

        if (NEXT(poll)(&fd, 1, 0) != 0 || posix__nap(&nap, deadline) < 0)
            break;
        result = NEXT(recv)(w->fd, buf, n, flags | MSG_DONTWAIT);
    }
    return result;
}

ssize_t posix__recv(int fd, void *buf, size_t n, int flags)
{
    struct posix__waiting w = {.fd = fd, .events = POLLIN};
    struct iovec part = {.iov_base = buf, .iov_len = n};
    ssize_t result;

    do
        result = NEXT(recv)(fd, buf, n, flags | MSG_DONTWAIT);
    while (result < 0 && posix__again(&w));
    if (result <= 0 || (size_t)result >= n || !waits_for_all(fd, flags))
        return result;
    if (flags & MSG_PEEK)
        return peek_all(&w, buf, n, (size_t)result, flags);
    return receive_rest(&w, &part, 1, (size_t)result, flags);
}

ssize_t posix__recvmsg(int fd, struct msghdr *message, int flags)
{
    struct posix__waiting w = {.fd = fd, .events = POLLIN};
    struct msghdr asked = *message; /* each attempt changes *message */
    ssize_t result;

    do {
        *message = asked;
        result = NEXT(recvmsg)(fd, message, flags | MSG_DONTWAIT);
    } while (result < 0 && posix__again(&w));
    if (result <= 0 || flags & MSG_PEEK || !waits_for_all(fd, flags))
        return result;
    return receive_rest(&w, message->msg_iov, message->msg_iovlen, (size_t)result, flags);
}

/* ---- the interposed functions ------------------------------------------------------ */

INTERPOSE ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    if (!IN_TASK() || flags & NEVER_WAITS)
        return NEXT(recv)(fd, buf, n, flags);
    posix__fairly();
    return posix__recv(fd, buf, n, flags);
}

INTERPOSE ssize_t __recv_chk(int fd, void *buf, size_t n, size_t size, int flags)
{
    if (!IN_TASK() || flags & NEVER_WAITS || n > size)
        return NEXT(__recv_chk)(fd, buf, n, size, flags);
    posix__fairly();
    return posix__recv(fd, buf, n, flags);
}

static ssize_t receive_from(int fd, void *buf, size_t n, int flags, __SOCKADDR_ARG from,
                            socklen_t *from_bytes)
{
    struct posix__waiting w = {.fd = fd, .events = POLLIN};
    struct iovec part = {.iov_base = buf, .iov_len = n};
    ssize_t result;

    do
        result = NEXT(recvfrom)(fd, buf, n, flags | MSG_DONTWAIT, from, from_bytes);
    while (result < 0 && posix__again(&w));
    if (result <= 0 || (size_t)result >= n || flags & MSG_PEEK ||
        !waits_for_all(fd, flags))
        return result;
    return receive_rest(&w, &part, 1, (size_t)result, flags);
}

INTERPOSE ssize_t recvfrom(int fd, void *restrict buf, size_t n, int flags,
                           __SOCKADDR_ARG from, socklen_t *restrict from_bytes)
{
    if (!IN_TASK() || flags & NEVER_WAITS)
        return NEXT(recvfrom)(fd, buf, n, flags, from, from_bytes);
    posix__fairly();
    return receive_from(fd, buf, n, flags, from, from_bytes);
}

INTERPOSE ssize_t __recvfrom_chk(int fd, void *restrict buf, size_t n, size_t size,
                                 int flags, __SOCKADDR_ARG from,
                                 socklen_t *restrict from_bytes)
{
    if (!IN_TASK() || flags & NEVER_WAITS || n > size)
        return NEXT(__recvfrom_chk)(fd, buf, n, size, flags, from, from_bytes);
    posix__fairly();
    return receive_from(fd, buf, n, flags, from, from_bytes);
}

INTERPOSE ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    if (!IN_TASK() || flags & NEVER_WAITS)
        return NEXT(recvmsg)(fd, message, flags);
    posix__fairly();
    return posix__recvmsg(fd, message, flags);
}

/*
 * Receive datagrams until there are n or none arrives in time. Each call of recvmmsg(2)
 * returns the messages that have arrived; if an error follows them, the kernel saves it
 * for the next call.
 */
static unsigned receive_datagrams(int fd, struct mmsghdr *messages, unsigned n, int flags,
                                  int64_t deadline)
{
    struct posix__waiting w = {.fd = fd, .events = POLLIN};
    unsigned count = 0;

    for (;;) {
        int got =
            NEXT(recvmmsg)(fd, messages + count, n - count, flags | MSG_DONTWAIT, NULL);

        if (got > 0) {
            count += (unsigned)got;
            w = (struct posix__waiting){.fd = fd, .events = POLLIN};
            errno = EAGAIN;
        }
        if (count == n ||
            (count > 0 && (flags & MSG_WAITFORONE || posix__left(deadline) == 0)))
            return count;
        if (!posix__again(&w) || (count > 0 && posix__polls(fd, POLLERR)))
            return count;
    }
}

/*
 * Return true if the next bytes of a stream have arrived. Unless MSG_WAITFORONE is set,
 * wait for them first. Also true at the end of the stream, where all further messages are
 * empty, as in the kernel.
 */
static bool await_next_message(int fd, int flags)
{
    struct posix__waiting w = {.fd = fd, .events = POLLIN};
    struct pollfd now = {.fd = fd, .events = POLLIN};

    if (flags & MSG_WAITFORONE ? has_bytes(fd) : await_bytes(&w))
        return true;
    return NEXT(poll)(&now, 1, 0) > 0 && now.revents == POLLIN;
}

static unsigned receive_pieces(int fd, struct mmsghdr *messages, unsigned n, int flags,
                               int64_t deadline)
{
    unsigned count = 0;

    while (count < n && (count == 0 || await_next_message(fd, flags))) {
        ssize_t length;

        if (count > 0 && flags & MSG_WAITFORONE)
            flags |= MSG_DONTWAIT;
        length = flags & MSG_DONTWAIT
                     ? NEXT(recvmsg)(fd, &messages[count].msg_hdr, flags)
                     : posix__recvmsg(fd, &messages[count].msg_hdr, flags);
        if (length < 0)
            break;
        messages[count++].msg_len = (unsigned)length;
        if (posix__left(deadline) == 0)
            break;
    }
    return count;
}

/* The time-out is checked only between two messages, as recvmmsg(2) documents. */
static int receive_several(int fd, struct mmsghdr *messages, unsigned n, int flags,
                           struct timespec *timeout)
{
    int64_t deadline = posix__deadline(timeout);
    unsigned count = socket_option(fd, SO_TYPE) == SOCK_STREAM
                         ? receive_pieces(fd, messages, n, flags, deadline)
                         : receive_datagrams(fd, messages, n, flags, deadline);

    if (timeout != NULL)
        *timeout = posix__timespec(posix__left(deadline));
    return count > 0 || n == 0 ? (int)count : -1;
}

INTERPOSE int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags,
                       struct timespec *timeout)
{
    if (!IN_TASK() || flags & NEVER_WAITS || !posix__blocks(fd) ||
        !posix__is_span(timeout))
        return NEXT(recvmmsg)(fd, messages, n, flags, timeout);
    posix__fairly();
    return receive_several(fd, messages, n, flags, timeout);
}
