/*
 * stream.c - streams: opening, closing, reading and writing.
 *
 * A write returns when the kernel has all of its bytes, so there is nothing to flush, and
 * a slow peer slows down the writer. A read stores bytes directly in the caller's memory.
 * Only calls that look ahead (look_ahead.c) fill a buffer, and every read first takes the
 * bytes in that buffer.
 */
#include "stream.h"

#include "../io/socket.h"

#include "../loop/leak.h"

#include <coil/error.h>

#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* ---- opening and closing ----------------------------------------------------------- */

void coil__stream_drop_received_ahead(coil_stream *stream)
{
    if (stream->received_ahead == NULL)
        return;
    coil__buffer_drop(&stream->received_ahead->buffer);
    coil__free(stream->received_ahead);
    stream->received_ahead = NULL;
}

static void finish_stream(struct coil__endpoint *endpoint)
{
    coil_stream *stream = COIL__CONTAINER(endpoint, coil_stream, endpoint);

    if (stream->transport->finish != NULL)
        stream->transport->finish(stream);
    coil__buffer_drop(&stream->buffer);
    coil__stream_drop_received_ahead(stream);
}

void coil__stream_note(const coil_stream *stream)
{
    static const struct coil__leak_kind kind = {"a stream", "descriptor", "destroyed"};

    coil__leak_note(&kind, &stream->endpoint, stream->endpoint.fd, NULL);
}

coil_stream *coil__stream_alloc(void)
{
    return coil__alloc_zeroed(sizeof(coil_stream));
}

int coil__stream_open(coil_stream *stream, int fd, bool is_socket, const char *caller)
{
    int rc = coil__endpoint_open(&stream->endpoint, fd, caller);

    if (rc < 0)
        return rc;
    stream->endpoint.finish = finish_stream;
    stream->transport = &coil__transport_bare;
    stream->limit = COIL__LOOK_AHEAD;
    stream->is_socket = stream->may_read = is_socket;
    coil__stream_note(stream);
    return 0;
}

int coil__stream_make(int fd, bool is_socket, const char *caller, coil_stream **out)
{
    coil_loop *loop = coil__loop_require(caller);
    coil_stream *stream = coil__stream_alloc();
    int rc = stream != NULL ? coil__stream_open(stream, fd, is_socket, caller)
                            : coil__failed(-ENOMEM);

    if (rc == 0) {
        *out = stream;
        return 0;
    }
    coil__free(stream);
    coil__socket_close(loop, fd);
    return rc;
}

int coil__stream_open_socket(int fd, const char *caller, coil_stream **out)
{
    int rc = coil__stream_make(fd, true, caller, out), yes = 1;

    if (rc == 0)
        coil__socket_set_option((*out)->endpoint.loop, fd, IPPROTO_TCP, TCP_NODELAY, &yes,
                                sizeof yes);
    return rc;
}

/*
 * Switch SO_LINGER off, because with this option close(2) blocks until the peer has the
 * bytes or the time is up, even if the socket is non-blocking. Without SO_LINGER, the
 * kernel sends the bytes in the background. A time of 0 is not changed, because it
 * requests that the connection be reset. A forked child does not change the option,
 * because the parent shares it. Simulated sockets do not have the option: getsockopt(2)
 * fails for their numbers.
 */
static void do_not_linger(const coil_stream *stream)
{
    int fd = stream->endpoint.fd;
    struct linger linger = {0};
    socklen_t length = sizeof linger;

    if (fd < 0 || !stream->is_socket || coil__endpoint_is_parents(&stream->endpoint) ||
        getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &length) < 0 || !linger.l_onoff ||
        linger.l_linger == 0)
        return;
    linger.l_onoff = 0;
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

static int close_stream(coil_stream *stream, const char *caller)
{
    coil__endpoint_check(&stream->endpoint, caller);
    if (stream->endpoint.fd >= 0 && stream->transport->close != NULL)
        stream->transport->close(stream);
    do_not_linger(stream);
    coil__stream_give_flag_back(stream);
    return coil__endpoint_close(&stream->endpoint, caller);
}

int coil_stream_close(coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    return close_stream(stream, "coil_stream_close");
}

void coil_stream_destroy(coil_stream *stream)
{
    if (stream == NULL)
        return;
    close_stream(stream, "coil_stream_destroy");
    coil__endpoint_destroy(&stream->endpoint, "coil_stream_destroy");
}

int coil_stream_fd(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    return stream->endpoint.fd;
}

void coil_stream_set_idle_timeout(coil_stream *stream, int64_t timeout_ns)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    stream->endpoint.idle_ns = timeout_ns > 0 && timeout_ns < COIL_NEVER ? timeout_ns : 0;
}

int coil__stream_connect(coil_stream *stream, const struct sockaddr *address,
                         socklen_t address_bytes)
{
    return (int)coil__endpoint_do(&stream->endpoint,
                                  &(struct coil__op){.kind = COIL__OP_CONNECT,
                                                     .addr = (struct sockaddr *)address,
                                                     .addrlen = &address_bytes});
}

/* ---- reading and writing ----------------------------------------------------------- */

/* Take bytes from a buffer, without waiting. */
static ssize_t take_from(struct coil__buffer *buffer, coil_stream *stream, void *buf,
                         size_t n)
{
    int rc = coil__endpoint_spend(&stream->endpoint);

    return rc < 0 ? rc : (ssize_t)coil__buffer_take(buffer, buf, n);
}

/*
 * Return bytes that the previous loop received ahead. When these bytes are used up,
 * return the error that followed them, but only once.
 */
static ssize_t take_received_bytes(coil_stream *stream, void *buf, size_t n)
{
    struct coil__received_ahead *ahead = stream->received_ahead;
    ssize_t result = take_from(ahead->buffer, stream, buf, n);

    if (result == 0) {
        result = ahead->error;
        ahead->error = 0;
    }
    if (coil__buffer_count(ahead->buffer) == 0 && ahead->error == 0)
        coil__stream_drop_received_ahead(stream);
    return result;
}

ssize_t coil__stream_read_fd(coil_stream *stream, void *buf, size_t n)
{
    struct coil__op op;

    if (COIL__UNLIKELY(stream->received_ahead != NULL))
        return take_received_bytes(stream, buf, n);
    coil__op_init(&op, stream->is_socket ? COIL__OP_RECV : COIL__OP_READ, buf, n);
    return coil__endpoint_do(&stream->endpoint, &op);
}

static COIL__NOINLINE ssize_t write_parts(coil_stream *stream, const struct iovec *parts,
                                          size_t count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
    struct coil__op op;

    if (stream->is_socket)
        coil__op_init(&op, COIL__OP_SENDMSG, &message, 0);
    else
        coil__op_init(&op, COIL__OP_WRITEV, (void *)parts, count);
    return coil__endpoint_do(&stream->endpoint, &op);
}

ssize_t coil__stream_write_fd(coil_stream *stream, const struct iovec *parts,
                              size_t count)
{
    struct coil__op op;

    if (count != 1)
        return write_parts(stream, parts, count);
    coil__op_init(&op, stream->is_socket ? COIL__OP_SEND : COIL__OP_WRITE,
                  parts->iov_base, parts->iov_len);
    return coil__endpoint_do(&stream->endpoint, &op);
}

/* True for the write end of a pipe, which is shut down by closing it. */
static bool is_write_end(int fd)
{
    struct stat about;
    int flags = fcntl(fd, F_GETFL);

    return fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode) && flags >= 0 &&
           (flags & O_ACCMODE) == O_WRONLY;
}

static int shutdown_fd(coil_stream *stream)
{
    int fd = stream->endpoint.fd;

    if (stream->is_socket)
        return coil__socket_shutdown(stream->endpoint.loop, fd, SHUT_WR);
    if (is_write_end(fd))
        return coil_stream_close(stream);
    return coil_fail(-ENOTSOCK, "coil_stream_shutdown_write: only a socket or the write "
                                "end of a pipe can signal the end of the data");
}

static ssize_t sendfile_fd(coil_stream *stream, int fd, int64_t offset, size_t n)
{
    if (!stream->is_socket)
        return coil__failed(-EOPNOTSUPP);
    return coil__endpoint_do(
        &stream->endpoint,
        &(struct coil__op){
            .kind = COIL__OP_SENDFILE, .fd2 = fd, .offset = offset, .len = n});
}

const struct coil__transport coil__transport_bare = {
    .wait_readable = coil__stream_wait_fd_readable,
    .read = coil__stream_read_fd,
    .write = coil__stream_write_fd,
    .shutdown_write = shutdown_fd,
    .sendfile = sendfile_fd,
};

ssize_t coil__stream_receive(coil_stream *stream, void *buf, size_t n)
{
    ssize_t result = stream->transport->read(stream, buf, n);

    stream->ended = result == 0;
    return result;
}

static ssize_t read_buffered_first(coil_stream *stream, void *buf, size_t n)
{
    if (COIL__UNLIKELY(coil__stream_buffered(stream) > 0))
        return take_from(stream->buffer, stream, buf, n);
    return coil__stream_receive(stream, buf, n);
}

ssize_t coil_read(coil_stream *stream, void *buf, size_t n)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    ssize_t result = coil__endpoint_enter(&stream->endpoint, COIL__IN, "coil_read");

    if (result < 0)
        return result;
    if (n > 0)
        result = read_buffered_first(stream, buf, n);
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result;
}

/* Set the count to 0, unless another call is in progress, to which the count belongs. */
int coil__stream_refuse(coil_stream *stream, enum coil__direction direction, int rc)
{
    if (!stream->endpoint.busy[direction])
        stream->transferred[direction] = 0;
    return rc;
}

int coil__stream_enter(coil_stream *stream, enum coil__direction direction,
                       const char *caller)
{
    int rc = coil__endpoint_enter(&stream->endpoint, direction, caller);

    if (rc < 0)
        return coil__stream_refuse(stream, direction, rc);
    stream->transferred[direction] = 0;
    return 0;
}

ssize_t coil_read_exact(coil_stream *stream, void *buf, size_t n)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    size_t *done = &stream->transferred[COIL__IN];
    ssize_t result = coil__stream_enter(stream, COIL__IN, "coil_read_exact");

    if (result < 0)
        return result;
    for (; *done < n; *done += (size_t)result) {
        result = read_buffered_first(stream, (char *)buf + *done, n - *done);
        if (result == 0)
            result = coil__failed(-ENODATA);
        if (result < 0)
            break;
    }
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result < 0 ? result : (ssize_t)n;
}

ssize_t coil_write(coil_stream *stream, const void *buf, size_t n)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE_IF(n > 0, buf, "a buffer");
    size_t *done = &stream->transferred[COIL__OUT];
    ssize_t result = coil__stream_enter(stream, COIL__OUT, "coil_write");

    if (result < 0)
        return result;
    for (; *done < n; *done += (size_t)result) {
        struct iovec rest = {(char *)buf + *done, n - *done};

        result = stream->transport->write(stream, &rest, 1);
        if (result < 0)
            break;
    }
    coil__endpoint_leave(&stream->endpoint, COIL__OUT);
    return result < 0 ? result : (ssize_t)n;
}

/* The maximum number of parts in one system call. */
#define PARTS 64

/*
 * Return the sum of the parts' lengths, or -EINVAL if it exceeds SSIZE_MAX (writev(2)).
 */
static ssize_t total_of(const struct iovec *parts, int count)
{
    size_t total = 0;

    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len > SSIZE_MAX - total)
            return coil__failed(-EINVAL);
        total += parts[i].iov_len;
    }
    return count < 0 ? coil__failed(-EINVAL) : (ssize_t)total;
}

/*
 * Collect the next non-empty parts, without the first *skip bytes, which were already
 * written. Moves *parts and *skip past the finished parts.
 */
static size_t next_parts(const struct iovec **parts, const struct iovec *end,
                         size_t *skip, struct iovec *next)
{
    size_t n = 0, first = *skip;

    for (; *parts < end && (*parts)->iov_len <= first; ++*parts)
        first -= (*parts)->iov_len;
    *skip = first;
    for (const struct iovec *part = *parts; part < end && n < PARTS; part++) {
        if (part->iov_len > first)
            next[n++] =
                (struct iovec){(char *)part->iov_base + first, part->iov_len - first};
        first = 0;
    }
    return n;
}

ssize_t coil_writev(coil_stream *stream, const struct iovec *parts, int count)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE_IF(count > 0, parts, "an array");
    size_t *done = &stream->transferred[COIL__OUT], skip = 0, n;
    ssize_t total = total_of(parts, count), result = total;
    const struct iovec *end = count > 0 ? parts + count : parts;
    struct iovec next[PARTS];

    if (result < 0)
        return coil__stream_refuse(stream, COIL__OUT, (int)result);
    result = coil__stream_enter(stream, COIL__OUT, "coil_writev");
    if (result < 0)
        return result;
    while ((n = next_parts(&parts, end, &skip, next)) > 0) {
        result = stream->transport->write(stream, next, n);
        if (result < 0)
            break;
        *done += (size_t)result;
        skip += (size_t)result;
    }
    coil__endpoint_leave(&stream->endpoint, COIL__OUT);
    return result < 0 ? result : total;
}

int coil_stream_shutdown_write(coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
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
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    return stream->transferred[COIL__IN];
}

size_t coil_stream_write_transferred(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    return stream->transferred[COIL__OUT];
}
