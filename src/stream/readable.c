/*
 * readable.c - waits until a stream is readable.
 *
 * This wait is designed for large numbers of idle connections. The operation is stored in
 * the stream, its wait in the task's control block, and the stream's empty buffer is
 * released. So no pointer refers to the task's stack, which can be swapped out. With
 * io_uring the kernel may still be receiving ahead for the stream (io_uring_receive.c).
 */
#include "stream.h"

#include <coil/scope.h>

#include <sys/socket.h>

/*
 * Check that the descriptor is of a kind that can be read, unlike the write end of a
 * pipe, a pidfd or a listening socket. A wait for such a descriptor would end late or
 * never. Returns 0, or the error that a read would return.
 */
static int check_that_it_may_be_read(coil_stream *stream)
{
    int fd = stream->endpoint.fd;
    char byte;

    if (COIL__LIKELY(stream->may_read))
        return 0;
    if ((stream->is_socket ? recv(fd, &byte, 1, MSG_DONTWAIT) : readv(fd, NULL, 0)) < 0)
        return coil__failed(-errno);
    stream->may_read = true;
    return 0;
}

static int await_readable(coil_stream *stream)
{
    return coil__readable_await(&stream->readable, stream->endpoint.fd,
                                &stream->endpoint);
}

static COIL__NOINLINE int await_readable_until_idle(coil_stream *stream)
{
    struct coil__endpoint *endpoint = &stream->endpoint;
    unsigned operations;
    coil_scope scope;
    int rc;

    do {
        operations = endpoint->operations;
        rc = coil_scope_enter(&scope, coil_in(endpoint->idle_ns));
        if (rc < 0)
            return rc;
        rc = coil_scope_exit(&scope, await_readable(stream));
    } while (rc == -ETIMEDOUT && coil_scope_expired(&scope) &&
             coil__endpoint_was_used(endpoint, operations));
    return rc;
}

int coil__stream_wait_fd_readable(coil_stream *stream)
{
    int rc = coil__endpoint_begin(&stream->endpoint);

    if (rc < 0 || stream->received_ahead != NULL)
        return rc;
    rc = check_that_it_may_be_read(stream);
    if (rc < 0)
        return rc;
    return COIL__UNLIKELY(stream->endpoint.idle_ns > 0)
               ? await_readable_until_idle(stream)
               : await_readable(stream);
}

int coil_stream_wait_readable(coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    int rc =
        coil__endpoint_enter(&stream->endpoint, COIL__IN, "coil_stream_wait_readable");

    if (rc < 0)
        return rc;
    if (coil__stream_buffered(stream) > 0) {
        rc = coil__endpoint_spend(&stream->endpoint);
    } else {
        coil__buffer_drop(&stream->buffer);
        rc = stream->transport->wait_readable(stream);
    }
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return rc;
}
