/*
 * copy.c - copies one stream to another.
 *
 * The bytes are read into the source's own buffer and written from there, so if the copy
 * ends early, the unwritten bytes can still be read from the source. The buffer grows to
 * the source's limit while reads fill it (buffer.h), and stays at 4 KiB for a source that
 * sends little.
 *
 * splice(2) is not used, because between two sockets it moves the bytes through a pipe.
 * If the task were cancelled, the bytes in the pipe would have to be read back, which
 * needs memory that may not be available. Also, io_uring may already have received the
 * bytes. (Go: io.Copy)
 */
#include "stream.h"

#include <limits.h>

struct copying {
    coil_stream *from, *to;
    size_t left;
};

/*
 * Write some bytes of the buffer. If the write fails, TLS may still send some of its
 * bytes, which are counted and removed from the source.
 */
static ssize_t write_some(struct copying *c)
{
    struct coil__buffer *buffer = c->from->buffer;
    size_t *written = &c->to->transferred[COIL__OUT], before = *written, n;
    struct iovec rest = {(char *)coil__buffer_data(buffer), coil__buffer_count(buffer)};
    ssize_t result;

    if (rest.iov_len > c->left)
        rest.iov_len = c->left;
    result = c->to->transport->write(c->to, &rest, 1);
    if (result > 0)
        *written += (size_t)result;
    n = *written - before;
    coil__buffer_take(buffer, NULL, n);
    c->from->transferred[COIL__IN] += n;
    c->left -= n;
    return result;
}

/*
 * Copy some bytes. Returns the number of bytes copied, 0 at the end of the source, or a
 * negative errno.
 */
static ssize_t copy_some(struct copying *c)
{
    if (coil__stream_buffered(c->from) == 0) {
        ssize_t result = coil__stream_fill(c->from, 1);

        if (result <= 0)
            return result;
    }
    return write_some(c);
}

ssize_t coil_copy_n(coil_stream *from, coil_stream *to, size_t n)
{
    COIL__REQUIRE(from, "a stream");
    COIL__REQUIRE(to, "a stream");
    struct copying c = {from, to, n < SSIZE_MAX ? n : SSIZE_MAX};
    ssize_t result = coil__stream_enter(from, COIL__IN, "coil_copy");

    if (result < 0)
        return coil__stream_refuse(to, COIL__OUT, (int)result);
    result = coil__stream_enter(to, COIL__OUT, "coil_copy");
    if (result == 0) {
        for (result = 1; result > 0 && c.left > 0;)
            result = copy_some(&c);
        if (result >= 0)
            result = (ssize_t)to->transferred[COIL__OUT];
        coil__endpoint_leave(&to->endpoint, COIL__OUT);
    }
    coil__endpoint_leave(&from->endpoint, COIL__IN);
    return result;
}

ssize_t coil_copy(coil_stream *from, coil_stream *to)
{
    COIL__REQUIRE(from, "a stream");
    COIL__REQUIRE(to, "a stream");
    return coil_copy_n(from, to, SIZE_MAX);
}
