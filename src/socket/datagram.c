/*
 * datagram.c - sends and receives single datagrams.
 *
 * A stream refuses a second reader, because bytes that are divided between two readers
 * are useless. A datagram, however, is complete in itself, so several tasks may wait for
 * datagrams. The tasks in each direction form a queue, and only the first task has an
 * operation on the descriptor.
 */
#include "datagram.h"

#include "../io/socket.h"

#include "../base/fault.h"

#include <coil/stream.h>

#include <sys/uio.h>
#include <unistd.h>

/* ---- a call ------------------------------------------------------------------------ */

int coil__datagram_enter(coil_datagram *datagram, enum coil__direction direction,
                         const char *caller)
{
    struct coil__endpoint *endpoint = &datagram->endpoint;
    int rc;

    coil__endpoint_check(endpoint, caller);
    if (endpoint->fd < 0)
        return coil__failed(-EBADF);
    /* the object must outlive the wait for the lock, even if it is destroyed meanwhile */
    endpoint->references++;
    rc = coil_lock_acquire(&datagram->line[direction]);
    if (rc == 0) {
        rc = coil__endpoint_enter(endpoint, direction, caller);
        if (rc < 0)
            coil_lock_release(&datagram->line[direction]);
    }
    if (rc < 0)
        coil__endpoint_release(endpoint);
    return rc;
}

void coil__datagram_leave(coil_datagram *datagram, enum coil__direction direction)
{
    coil__endpoint_leave(&datagram->endpoint, direction);
    coil_lock_release(&datagram->line[direction]);
    coil__endpoint_release(&datagram->endpoint);
}

/* ---- sending ----------------------------------------------------------------------- */

/*
 * Wait until the queue of a local receiver has room. An unconnected socket is always
 * reported as writable, even if the receiver's queue is full (unix(7), poll(2)). So
 * connect a second socket to the receiver, and wait until that socket is writable.
 * coil_datagram_close() ends the wait by shutting down the second socket. With select(2),
 * a socket that was shut down becomes readable but not writable, so wait for both.
 */
static int wait_for_room(coil_datagram *datagram, const struct sockaddr *to,
                         socklen_t to_bytes)
{
    int fd =
        COIL__CALL(EMFILE, socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    int rc;

    if (fd < 0)
        return coil__failed(-errno);
    rc = COIL__CALL(ECONNREFUSED, connect(fd, to, to_bytes));
    datagram->room_fd = fd;
    rc = rc < 0 ? coil__failed(-errno) : coil_wait_fd(fd, COIL_READABLE | COIL_WRITABLE);
    datagram->room_fd = -1;
    close(fd);
    return rc;
}

static ssize_t send_to_local(coil_datagram *datagram, const struct msghdr *message)
{
    struct coil__endpoint *endpoint = &datagram->endpoint;
    ssize_t n;
    int rc;

    for (;;) {
        rc = coil__endpoint_spend(endpoint);
        if (rc < 0)
            return rc;
        do
            n = COIL__CALL(ECONNREFUSED, sendmsg(endpoint->fd, message, MSG_NOSIGNAL));
        while (n < 0 && errno == EINTR);
        if (n >= 0 || errno != EAGAIN)
            return n < 0 ? coil__failed(-errno) : n;
        rc = wait_for_room(datagram, message->msg_name, message->msg_namelen);
        if (rc < 0)
            return rc;
    }
}

ssize_t coil__datagram_send(coil_datagram *datagram, const void *buf, size_t n,
                            const struct sockaddr *to, socklen_t to_bytes,
                            const coil_datagram_info *info)
{
    struct iovec part = {(void *)buf, n};
    struct msghdr message = {.msg_name = (void *)to,
                             .msg_namelen = to != NULL ? to_bytes : 0,
                             .msg_iov = &part,
                             .msg_iovlen = 1};
    struct coil__control control;
    int rc = coil__info_write(datagram, info, &control, &message);

    if (rc < 0)
        return rc;
    if (to != NULL && datagram->family == AF_UNIX)
        return send_to_local(datagram, &message);
    return coil__endpoint_do(
        &datagram->endpoint,
        &(struct coil__op){.kind = COIL__OP_SENDMSG, .buf = &message});
}

static ssize_t send_datagram(coil_datagram *datagram, const void *buf, size_t n,
                             const struct sockaddr *to, socklen_t to_bytes,
                             const coil_datagram_info *info, const char *caller)
{
    ssize_t result = coil__datagram_enter(datagram, COIL__OUT, caller);

    if (result < 0)
        return result;
    result = coil__datagram_send(datagram, buf, n, to, to_bytes, info);
    coil__datagram_leave(datagram, COIL__OUT);
    return result;
}

ssize_t coil_send_info(coil_datagram *datagram, const void *buf, size_t n,
                       const struct sockaddr *to, socklen_t to_bytes,
                       const coil_datagram_info *info)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return send_datagram(datagram, buf, n, to, to_bytes, info, "coil_send_info");
}

ssize_t coil_send_to(coil_datagram *datagram, const void *buf, size_t n,
                     const struct sockaddr *to, socklen_t to_bytes)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return send_datagram(datagram, buf, n, to, to_bytes, NULL, "coil_send_to");
}

ssize_t coil_send(coil_datagram *datagram, const void *buf, size_t n)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return send_datagram(datagram, buf, n, NULL, 0, NULL, "coil_send");
}

/* ---- receiving --------------------------------------------------------------------- */

ssize_t coil__datagram_receive(coil_datagram *datagram, void *buf, size_t n,
                               coil_address *from, coil_datagram_info *info)
{
    struct iovec part = {buf, n};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct coil__control control;
    ssize_t result = datagram->held_error;

    datagram->held_error = 0;
    if (result < 0)
        return coil__failed((int)result);
    if (from != NULL) {
        message.msg_name = &from->storage;
        message.msg_namelen = sizeof from->storage;
    }
    if (info != NULL)
        coil__info_prepare(datagram, &control, &message);
    /* With MSG_TRUNC, the result is the size of the whole datagram (recv(2)). */
    result = coil__endpoint_do(&datagram->endpoint,
                               &(struct coil__op){.kind = COIL__OP_RECVMSG,
                                                  .buf = &message,
                                                  .flags = MSG_TRUNC});
    if (result >= 0 && from != NULL)
        from->length = message.msg_namelen;
    if (result >= 0 && info != NULL)
        coil__info_read(datagram, &message, info);
    return result;
}

static ssize_t receive_datagram(coil_datagram *datagram, void *buf, size_t n,
                                coil_address *from, coil_datagram_info *info,
                                const char *caller)
{
    ssize_t result = coil__datagram_enter(datagram, COIL__IN, caller);

    if (result < 0)
        return result;
    if (info != NULL)
        result = coil__info_request(datagram);
    if (result == 0)
        result = coil__datagram_receive(datagram, buf, n, from, info);
    if (result >= 0)
        datagram->size = (size_t)result;
    coil__datagram_leave(datagram, COIL__IN);
    return result > (ssize_t)n ? coil__failed(-EMSGSIZE) : result;
}

ssize_t coil_receive_info(coil_datagram *datagram, void *buf, size_t n,
                          coil_address *from, coil_datagram_info *info)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    COIL__REQUIRE(info, "an output pointer");
    return receive_datagram(datagram, buf, n, from, info, "coil_receive_info");
}

ssize_t coil_receive_from(coil_datagram *datagram, void *buf, size_t n,
                          coil_address *from)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return receive_datagram(datagram, buf, n, from, NULL, "coil_receive_from");
}

ssize_t coil_receive(coil_datagram *datagram, void *buf, size_t n)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    return receive_datagram(datagram, buf, n, NULL, NULL, "coil_receive");
}

size_t coil_datagram_size(const coil_datagram *datagram)
{
    COIL__REQUIRE(datagram, "a datagram socket");
    coil__endpoint_check(&datagram->endpoint, __func__);
    return datagram->size;
}
