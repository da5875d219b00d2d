/*
 * stream.c - bytes in, bytes out.
 *
 * There is no buffer: what is read goes where the caller wants it, and what is written is
 * with the kernel when the call returns. So there is nothing to flush at the end, and a
 * slow peer is felt at once.
 */
#include "stream.h"

#include "socket.h"

#include "../base/fault.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct coil__transport bare;

/* ---- opening and closing ---------------------------------------------------------- */

static void finish_transport(struct coil__endpoint *endpoint)
{
    coil_stream *stream = COIL__CONTAINER(endpoint, coil_stream, endpoint);

    if (stream->transport->finish != NULL)
        stream->transport->finish(stream);
}

static int open_stream(int fd, bool is_socket, const char *caller, coil_stream **out)
{
    coil_stream *stream = coil__alloc_zeroed(sizeof *stream);
    int rc;

    if (stream == NULL)
        return -ENOMEM;
    rc = coil__endpoint_open(&stream->endpoint, fd, caller);
    if (rc < 0) {
        coil__free(stream);
        return rc;
    }
    stream->endpoint.finish = finish_transport;
    stream->transport = &bare;
    stream->is_socket = is_socket;
    *out = stream;
    return 0;
}

int coil__stream_open_socket(int fd, const char *caller, coil_stream **out)
{
    coil_loop *loop = coil__loop_require(caller);
    int yes = 1;
    int rc = open_stream(fd, true, caller, out);

    if (rc < 0)
        coil__socket_close(loop, fd);
    else
        coil__socket_set_option(loop, fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return rc;
}

int coil_stream_adopt(int fd, coil_stream **out)
{
    int flags = COIL__CALL(EBADF, fcntl(fd, F_GETFL));
    int type;
    socklen_t length = sizeof type;
    bool is_socket = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
    int rc;

    if (flags < 0 || COIL__CALL(EPERM, fcntl(fd, F_SETFL, flags | O_NONBLOCK)) < 0)
        return -errno;
    rc = open_stream(fd, is_socket, "coil_stream_adopt", out);
    if (rc < 0)
        fcntl(fd, F_SETFL, flags);
    return rc;
}

int coil_stream_close(coil_stream *stream)
{
    return coil__endpoint_close(&stream->endpoint);
}

void coil_stream_destroy(coil_stream *stream)
{
    if (stream == NULL)
        return;
    coil__endpoint_close(&stream->endpoint);
    coil__endpoint_release(&stream->endpoint);
}

int coil_stream_fd(const coil_stream *stream)
{
    return stream->endpoint.fd;
}

int coil__stream_connect(coil_stream *stream, const struct sockaddr *address,
                         socklen_t address_bytes)
{
    return (int)coil__endpoint_do(&stream->endpoint,
                                  &(struct coil__op){.kind = COIL__OP_CONNECT,
                                                     .addr = (struct sockaddr *)address,
                                                     .addrlen = &address_bytes});
}

/* ---- reading and writing ---------------------------------------------------------- */

ssize_t coil__stream_read_fd(coil_stream *stream, void *buf, size_t n)
{
    return coil__endpoint_do(
        &stream->endpoint,
        &(struct coil__op){.kind = stream->is_socket ? COIL__OP_RECV : COIL__OP_READ,
                           .buf = buf,
                           .len = n});
}

ssize_t coil__stream_write_fd(coil_stream *stream, const struct iovec *parts,
                              size_t count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};

    if (count == 1)
        return coil__endpoint_do(
            &stream->endpoint,
            &(struct coil__op){.kind = stream->is_socket ? COIL__OP_SEND : COIL__OP_WRITE,
                               .buf = parts->iov_base,
                               .len = parts->iov_len});
    if (stream->is_socket)
        return coil__endpoint_do(
            &stream->endpoint,
            &(struct coil__op){.kind = COIL__OP_SENDMSG, .buf = &message});
    return coil__endpoint_do(
        &stream->endpoint,
        &(struct coil__op){.kind = COIL__OP_WRITEV, .buf = (void *)parts, .len = count});
}

static int shutdown_fd(coil_stream *stream)
{
    return coil__socket_shutdown(stream->endpoint.loop, stream->endpoint.fd, SHUT_WR);
}

static const struct coil__transport bare = {
    .read = coil__stream_read_fd,
    .write = coil__stream_write_fd,
    .shutdown_write = shutdown_fd,
};

ssize_t coil_read(coil_stream *stream, void *buf, size_t n)
{
    ssize_t result = coil__endpoint_enter(&stream->endpoint, COIL__IN, "coil_read");

    if (result < 0)
        return result;
    if (n > 0)
        result = stream->transport->read(stream, buf, n);
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result;
}

/*
 * A call that counts begins: at 0, also where it fails because the stream is closed; but
 * not while another is on its way out, whose count has not been asked for yet.
 */
static int enter_counting(coil_stream *stream, enum coil__direction direction,
                          const char *caller)
{
    int rc = coil__endpoint_enter(&stream->endpoint, direction, caller);

    if (rc == 0 || (rc == -EBADF && !stream->endpoint.busy[direction]))
        stream->transferred[direction] = 0;
    return rc;
}

ssize_t coil_read_exact(coil_stream *stream, void *buf, size_t n)
{
    size_t *done = &stream->transferred[COIL__IN];
    ssize_t result = enter_counting(stream, COIL__IN, "coil_read_exact");

    if (result < 0)
        return result;
    for (*done = 0; *done < n; *done += (size_t)result) {
        result = stream->transport->read(stream, (char *)buf + *done, n - *done);
        if (result == 0)
            result = -ENODATA;
        if (result < 0)
            break;
    }
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result < 0 ? result : (ssize_t)n;
}

ssize_t coil_write(coil_stream *stream, const void *buf, size_t n)
{
    size_t *done = &stream->transferred[COIL__OUT];
    ssize_t result = enter_counting(stream, COIL__OUT, "coil_write");

    if (result < 0)
        return result;
    for (*done = 0; *done < n; *done += (size_t)result) {
        struct iovec rest = {(char *)buf + *done, n - *done};

        result = stream->transport->write(stream, &rest, 1);
        if (result < 0)
            break;
    }
    coil__endpoint_leave(&stream->endpoint, COIL__OUT);
    return result < 0 ? result : (ssize_t)n;
}

int coil_stream_shutdown_write(coil_stream *stream)
{
    int rc =
        coil__endpoint_enter(&stream->endpoint, COIL__OUT, "coil_stream_shutdown_write");

    if (rc < 0)
        return rc;
    rc = stream->transport->shutdown_write(stream);
    coil__endpoint_leave(&stream->endpoint, COIL__OUT);
    return rc;
}

size_t coil_stream_read_transferred(const coil_stream *stream)
{
    return stream->transferred[COIL__IN];
}

size_t coil_stream_write_transferred(const coil_stream *stream)
{
    return stream->transferred[COIL__OUT];
}
