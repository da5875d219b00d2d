/*
 * look_ahead.c - calls that read ahead: reading up to a separator, and peeking.
 *
 * Only these calls and coil_copy() fill a stream's buffer. Every other read first takes
 * the bytes in the buffer, and then reads into the caller's memory directly. (asyncio:
 * StreamReader)
 *
 * A search examines each byte only once, except the last few bytes before a refill, which
 * may be the beginning of a separator. Bytes are removed from the buffer only when it
 * contains the whole result, so a call that fails or is cancelled consumes nothing. At
 * the end of the stream the call fails, but stores the remaining bytes.
 */
#include "stream.h"

#include <limits.h>
#include <string.h>

ssize_t coil__stream_fill(coil_stream *stream, size_t most)
{
    struct coil__buffer *b;
    ssize_t result = coil__buffer_make_room(&stream->buffer,
                                            most > stream->limit ? most : stream->limit);

    if (result < 0)
        return result;
    b = stream->buffer;
    result = coil__stream_receive(stream, b->bytes + b->end, b->size - b->end);
    if (result > 0)
        coil__buffer_add(b, (size_t)result);
    return result;
}

/*
 * Read until the first `most` bytes contain the separator, and return where it ends.
 * Fails with -EMSGSIZE if these bytes do not contain the separator, or with -ENODATA at
 * the end of the stream.
 */
static ssize_t find_separator(coil_stream *stream, const void *separator, size_t n,
                              size_t most)
{
    size_t searched = 0;

    for (;;) {
        size_t there = coil__buffer_count(stream->buffer);
        const char *data = there > 0 ? coil__buffer_data(stream->buffer) : "", *found;
        ssize_t result;

        if (there > most)
            there = most;
        found = memmem(data + searched, there - searched, separator, n);
        if (found != NULL)
            return found - data + (ssize_t)n;
        if (there == most)
            return coil__failed(-EMSGSIZE);
        searched = there >= n ? there - n + 1 : 0;
        result = coil__stream_fill(stream, most);
        if (result <= 0)
            return result < 0 ? result : coil__failed(-ENODATA);
    }
}

/*
 * Return how many bytes to search for a separator of n bytes, given the stream's limit
 * and the size of the caller's buffer.
 */
static size_t bytes_to_search(const coil_stream *stream, size_t n, size_t size)
{
    return size < n || size - n < stream->limit ? size : stream->limit + n;
}

/*
 * Copy the bytes up to and including the separator to `to`. At the end of the stream,
 * copy the remaining bytes.
 */
static ssize_t take_until(coil_stream *stream, const void *separator, size_t n, void *to,
                          size_t size)
{
    ssize_t result = coil__endpoint_spend(&stream->endpoint);
    size_t taken = 0;

    if (result == 0)
        result = find_separator(stream, separator, n, bytes_to_search(stream, n, size));
    if (result > 0)
        taken = coil__buffer_take(stream->buffer, to, (size_t)result);
    else if (result == -ENODATA)
        taken = coil__buffer_take(stream->buffer, to, size);
    stream->transferred[COIL__IN] = taken;
    return result;
}

ssize_t coil_read_until(coil_stream *stream, const void *separator, size_t n, void *buf,
                        size_t size)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE_IF(n > 0, separator, "a separator");
    COIL__REQUIRE_IF(size > 0, buf, "a buffer");
    ssize_t result;

    if (n == 0)
        return coil__stream_refuse(stream, COIL__IN, -EINVAL);
    result = coil__stream_enter(stream, COIL__IN, "coil_read_until");
    if (result < 0)
        return result;
    result = take_until(stream, separator, n, buf, size);
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result;
}

/* The '\n' is read into `line` too, and then replaced with a '\0'. */
ssize_t coil_read_line(coil_stream *stream, char *line, size_t size)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE_IF(size > 0, line, "a buffer");
    ssize_t result;

    if (size == 0)
        return coil__stream_refuse(stream, COIL__IN, -EINVAL);
    result = coil__stream_enter(stream, COIL__IN, "coil_read_line");
    if (result < 0)
        return result;
    result = take_until(stream, "\n", 1, line, size);
    if (result > 0)
        line[--result] = '\0';
    else if (result == -ENODATA)
        line[stream->transferred[COIL__IN]] = '\0';
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result;
}

static ssize_t wait_for_bytes(coil_stream *stream, size_t at_least)
{
    ssize_t result = coil__endpoint_spend(&stream->endpoint);

    if (result == 0 && at_least > stream->limit)
        return coil__failed(-EMSGSIZE);
    while (result == 0 && coil__buffer_count(stream->buffer) < at_least) {
        result = coil__stream_fill(stream, at_least);
        if (result == 0)
            break; /* the end */
        if (result > 0)
            result = 0;
    }
    return result < 0 ? result : (ssize_t)coil__buffer_count(stream->buffer);
}

ssize_t coil_peek(coil_stream *stream, const void **data, size_t at_least)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE(data, "an output pointer");
    ssize_t result = coil__endpoint_enter(&stream->endpoint, COIL__IN, "coil_peek");

    if (result < 0)
        return result;
    result = wait_for_bytes(stream, at_least);
    if (result >= 0)
        *data = result > 0 ? coil__buffer_data(stream->buffer) : "";
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result;
}

void coil_stream_consume(coil_stream *stream, size_t n)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    if (stream->endpoint.busy[COIL__IN])
        coil__misuse("coil_stream_consume: a task is reading the stream");
    if (n > coil__buffer_count(stream->buffer))
        coil__misuse("coil_stream_consume: %zu bytes, of %zu that were peeked at", n,
                     coil__buffer_count(stream->buffer));
    coil__buffer_take(stream->buffer, NULL, n);
}

int coil_stream_set_limit(coil_stream *stream, size_t bytes)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    if (bytes == 0 || bytes > SSIZE_MAX / 2)
        return coil__failed(-EINVAL);
    stream->limit = bytes;
    return 0;
}

bool coil_stream_at_end(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    return stream->ended && coil__buffer_count(stream->buffer) == 0;
}
