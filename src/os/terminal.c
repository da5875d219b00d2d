/*
 * terminal.c - the transport of a stream on a pseudo-terminal.
 *
 * When the last process closes the terminal, Linux reports EIO to a reader of the other
 * end. This transport reports the end of the stream instead, as for a pipe.
 *
 * Linux reports no error to a writer: its bytes fill a buffer, and when the buffer is
 * full, the writer would wait forever, because poll(2) reports POLLHUP without POLLOUT.
 * So this transport calls poll(2) before each write, and waits with coil_poll(), which
 * returns on POLLHUP with all backends.
 */
#include "terminal.h"

#include "../base/fault.h"

#include <coil/poll.h>

static ssize_t read_terminal(coil_stream *stream, void *buf, size_t n)
{
    ssize_t result = coil__stream_read_fd(stream, buf, n);

    return result == -EIO ? 0 : result;
}

/* Write as many bytes as there is room for. Returns -EAGAIN if there is no room. */
static ssize_t write_now(int fd, const struct iovec *parts, size_t count)
{
    struct pollfd state = {.fd = fd, .events = POLLOUT};
    ssize_t n;

    if (poll(&state, 1, 0) > 0 && state.revents & POLLHUP)
        return coil__failed(-EPIPE);
    do
        n = COIL__CALL(EIO, writev(fd, parts, (int)count));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN ? -EAGAIN : coil__failed(-errno);
    return n;
}

static ssize_t write_terminal(coil_stream *stream, const struct iovec *parts,
                              size_t count)
{
    struct coil__endpoint *endpoint = &stream->endpoint;
    ssize_t n = coil__endpoint_spend(endpoint);

    while (n == 0 && (n = write_now(endpoint->fd, parts, count)) == -EAGAIN) {
        n = coil_poll(&(struct pollfd){.fd = endpoint->fd, .events = POLLOUT}, 1,
                      COIL_NEVER);
        if (n >= 0)
            n = endpoint->fd >= 0 ? 0 : coil__failed(-EBADF);
    }
    return n;
}

/* Fail, because the writing direction of a terminal cannot be shut down. */
static int refuse_shutdown(coil_stream *stream)
{
    (void)stream;
    return coil__failed(-ENOTSOCK);
}

static void end_writer(coil_stream *stream)
{
    coil_poll_end(stream->endpoint.fd);
}

const struct coil__transport coil__transport_terminal = {
    .wait_readable = coil__stream_wait_fd_readable,
    .read = read_terminal,
    .write = write_terminal,
    .shutdown_write = refuse_shutdown,
    .close = end_writer,
};
