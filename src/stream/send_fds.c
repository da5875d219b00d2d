/*
 * send_fds.c - sends and receives descriptors over a local socket. (unix(7), SCM_RIGHTS)
 */
#include "stream.h"

#include "../io/socket.h"

#include <coil/error.h>

#include <string.h>
#include <sys/socket.h>

#define MOST 253 /* SCM_MAX_FD */

union control {
    struct cmsghdr head; /* aligns the bytes */
    char bytes[CMSG_SPACE(MOST * sizeof(int))];
};

/* Returns 0, or a negative errno if the stream cannot carry descriptors. */
static int check_stream(const coil_stream *stream)
{
    struct sockaddr_storage name;
    socklen_t bytes = sizeof name;
    const struct coil__endpoint *endpoint = &stream->endpoint;

    if (stream->transport != &coil__transport_bare || !stream->is_socket ||
        coil__socket_is_simulated(endpoint->loop, endpoint->fd))
        return coil__failed(-EOPNOTSUPP);
    if (getsockname(endpoint->fd, (struct sockaddr *)&name, &bytes) < 0)
        return coil__failed(-errno);
    return name.ss_family == AF_UNIX ? 0 : coil__failed(-EOPNOTSUPP);
}

static ssize_t send_fds(coil_stream *stream, const void *buf, size_t n, const int *fds,
                        size_t fd_count)
{
    struct iovec part = {(void *)buf, n};
    union control control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct coil__op op;
    int rc = check_stream(stream);

    if (rc < 0)
        return rc;
    if (fd_count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(&control.head), fds, fd_count * sizeof(int));
    }
    coil__op_init(&op, COIL__OP_SENDMSG, &message, 0);
    return coil__endpoint_do(&stream->endpoint, &op);
}

ssize_t coil_send_fds(coil_stream *stream, const void *buf, size_t n, const int *fds,
                      size_t fd_count)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE(buf, "a buffer");
    COIL__REQUIRE_IF(fd_count > 0, fds, "an array");
    ssize_t result = coil__stream_enter(stream, COIL__OUT, "coil_send_fds");

    if (result < 0)
        return result;
    result = n > 0 && fd_count <= MOST ? send_fds(stream, buf, n, fds, fd_count)
                                       : coil__failed(-EINVAL);
    if (result > 0)
        stream->transferred[COIL__OUT] = (size_t)result;
    coil__endpoint_leave(&stream->endpoint, COIL__OUT);
    return result;
}

/* Collect at most MOST descriptors from the message. Returns their number. */
static size_t collect_fds(struct msghdr *message, int *fds)
{
    size_t count = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL;
         c = CMSG_NXTHDR(message, c)) {
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || n > MOST - count)
            continue;
        memcpy(fds + count, CMSG_DATA(c), n * sizeof(int));
        count += n;
    }
    return count;
}

/*
 * Store the descriptors in the caller's array. If the array is too small, close all of
 * the descriptors.
 */
static int give_fds(coil_loop *loop, struct msghdr *message, int *fds, size_t *fd_count)
{
    int all[MOST];
    size_t received = collect_fds(message, all), room = *fd_count;

    *fd_count = 0;
    if (received <= room && !(message->msg_flags & MSG_CTRUNC)) {
        if (received > 0)
            memcpy(fds, all, received * sizeof(int));
        *fd_count = received;
        return 0;
    }
    for (size_t i = 0; i < received; i++)
        coil__socket_close(loop, all[i]);
    return coil__failed(-EMSGSIZE);
}

static ssize_t receive_fds(coil_stream *stream, void *buf, size_t n, int *fds,
                           size_t *fd_count)
{
    struct iovec part = {buf, n};
    union control control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct coil__op op;
    ssize_t result;
    int rc = check_stream(stream);

    if (rc < 0)
        return rc;
    coil__op_init(&op, COIL__OP_RECVMSG, &message, 0);
    result = coil__endpoint_do(&stream->endpoint, &op);
    if (result < 0)
        return result;
    stream->ended = result == 0;
    rc = give_fds(stream->endpoint.loop, &message, fds, fd_count);
    return rc < 0 ? rc : result;
}

/*
 * If bytes were read ahead, return these instead of receiving more. Descriptors that were
 * sent along with them are lost.
 */
static ssize_t receive_buffered_first(coil_stream *stream, void *buf, size_t n, int *fds,
                                      size_t *fd_count)
{
    int rc;

    if (stream->received_ahead == NULL && coil__stream_buffered(stream) == 0)
        return receive_fds(stream, buf, n, fds, fd_count);
    *fd_count = 0;
    if (coil__stream_buffered(stream) == 0)
        return coil__stream_receive(stream, buf, n);
    rc = coil__endpoint_spend(&stream->endpoint);
    return rc < 0 ? rc : (ssize_t)coil__buffer_take(stream->buffer, buf, n);
}

ssize_t coil_receive_fds(coil_stream *stream, void *buf, size_t n, int *fds,
                         size_t *fd_count)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE(buf, "a buffer");
    COIL__REQUIRE(fd_count, "a count");
    COIL__REQUIRE_IF(*fd_count > 0, fds, "an array");
    ssize_t result =
        coil__endpoint_enter(&stream->endpoint, COIL__IN, "coil_receive_fds");

    if (result < 0)
        return result;
    result = n > 0 ? receive_buffered_first(stream, buf, n, fds, fd_count)
                   : coil__failed(-EINVAL);
    if (result < 0)
        *fd_count = 0;
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result;
}
