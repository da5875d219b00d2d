/*
 * send.c - send(2) and its relatives.
 *
 * A blocking send to a stream socket returns when the kernel has taken all bytes. A send
 * with MSG_DONTWAIT takes as many bytes as fit into the socket's buffer. The rest is sent
 * as space becomes available. Once some bytes are sent, an error must be left for the
 * next call to report. Further sends therefore use MSG_NOSIGNAL, and stop when poll()
 * reports an error, because a send would fetch the pending error and clear it.
 */
#include "receive.h"

static ssize_t send_rest(struct posix__waiting *w, const struct iovec *parts,
                         size_t count, size_t done, int flags)
{
    size_t total = posix__total(parts, count);
    struct iovec rest[POSIX__PLACES];
    int saved = errno;

    while (done < total) {
        struct msghdr message = {.msg_iov = rest};
        ssize_t n;

        message.msg_iovlen = posix__rest(parts, count, done, rest);
        n = NEXT(sendmsg)(w->fd, &message, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && (!posix__again(w) || posix__polls(w->fd, POLLERR | POLLHUP)))
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    errno = saved;
    return (ssize_t)done;
}

ssize_t posix__send(int fd, const void *buf, size_t n, int flags)
{
    struct posix__waiting w = {.fd = fd, .events = POLLOUT};
    struct iovec part = {.iov_base = (void *)buf, .iov_len = n};
    ssize_t result;

    do
        result = NEXT(send)(fd, buf, n, flags | MSG_DONTWAIT);
    while (result < 0 && posix__again(&w));
    if (result < 0 || (size_t)result >= n || !posix__blocks(fd))
        return result;
    return send_rest(&w, &part, 1, (size_t)result, flags);
}

ssize_t posix__sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct posix__waiting w = {.fd = fd, .events = POLLOUT};
    ssize_t result;

    do
        result = NEXT(sendmsg)(fd, message, flags | MSG_DONTWAIT);
    while (result < 0 && posix__again(&w));
    if (result < 0 ||
        (size_t)result >= posix__total(message->msg_iov, message->msg_iovlen) ||
        !posix__blocks(fd))
        return result;
    return send_rest(&w, message->msg_iov, message->msg_iovlen, (size_t)result, flags);
}

static ssize_t send_to(int fd, const void *buf, size_t n, int flags,
                       __CONST_SOCKADDR_ARG to, socklen_t to_bytes)
{
    struct posix__waiting w = {.fd = fd, .events = POLLOUT};
    struct iovec part = {.iov_base = (void *)buf, .iov_len = n};
    ssize_t result;

    do
        result = NEXT(sendto)(fd, buf, n, flags | MSG_DONTWAIT, to, to_bytes);
    while (result < 0 && posix__again(&w));
    if (result < 0 || (size_t)result >= n || !posix__blocks(fd))
        return result;
    return send_rest(&w, &part, 1, (size_t)result, flags);
}

/* ---- the interposed functions ------------------------------------------------------ */

INTERPOSE ssize_t send(int fd, const void *buf, size_t n, int flags)
{
    if (!IN_TASK() || flags & MSG_DONTWAIT)
        return NEXT(send)(fd, buf, n, flags);
    posix__fairly();
    return posix__send(fd, buf, n, flags);
}

INTERPOSE ssize_t sendto(int fd, const void *buf, size_t n, int flags,
                         __CONST_SOCKADDR_ARG to, socklen_t to_bytes)
{
    if (!IN_TASK() || flags & (MSG_DONTWAIT | MSG_FASTOPEN))
        return NEXT(sendto)(fd, buf, n, flags, to, to_bytes);
    posix__fairly();
    return send_to(fd, buf, n, flags, to, to_bytes);
}

INTERPOSE ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (!IN_TASK() || flags & (MSG_DONTWAIT | MSG_FASTOPEN))
        return NEXT(sendmsg)(fd, message, flags);
    posix__fairly();
    return posix__sendmsg(fd, message, flags);
}

INTERPOSE int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
    unsigned count = 0;

    if (!IN_TASK() || flags & (MSG_DONTWAIT | MSG_FASTOPEN) || !posix__blocks(fd))
        return NEXT(sendmmsg)(fd, messages, n, flags);
    posix__fairly();
    while (count < n) {
        ssize_t length = posix__sendmsg(fd, &messages[count].msg_hdr, flags);

        if (length < 0)
            break;
        messages[count++].msg_len = (unsigned)length;
    }
    return count > 0 || n == 0 ? (int)count : -1;
}
