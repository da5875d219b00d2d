/*
 * look_ahead.c - reading up to something that has to be found first.
 *
 * Only here is a stream's buffer filled. Every other read takes what lies in it first and
 * then goes straight to its own memory. (asyncio: StreamReader)
 *
 * A search looks at no byte twice but the few that a separator may have begun in. Nothing
 * leaves the buffer before all that was asked for is in it: so a call that fails or is
 * cancelled has taken nothing, but for the end of the stream, which gives out what is
 * left.
 */
#include "stream.h"

#include <limits.h>
#include <string.h>

/* One read into the buffer, which may come to hold `most` bytes; 0 at the end. */
static ssize_t fill(coil_stream *stream, size_t most)
{
    struct coil__buffer *b = &stream->buffer;
    ssize_t result =
        coil__buffer_make_room(b, most > stream->limit ? most : stream->limit);

    if (result == 0)
        result = coil__stream_receive(stream, b->bytes + b->end, b->size - b->end);
    if (result > 0)
        coil__buffer_add(b, (size_t)result);
    return result;
}

/*
 * Wait until the separator lies within the first `most` bytes; returns where it ends.
 * -EMSGSIZE, -ENODATA.
 */
static ssize_t find(coil_stream *stream, const void *separator, size_t n, size_t most)
{
    size_t searched = 0;

    for (;;) {
        size_t there = coil__buffer_count(&stream->buffer);
        const char *data = there > 0 ? coil__buffer_data(&stream->buffer) : "", *found;
        ssize_t result;

        if (there > most)
            there = most;
        found = memmem(data + searched, there - searched, separator, n);
        if (found != NULL)
            return found - data + (ssize_t)n;
        if (there == most)
            return -EMSGSIZE;
        searched = there >= n ? there - n + 1 : 0;
        result = fill(stream, most);
        if (result <= 0)
            return result < 0 ? result : -ENODATA;
    }
}

/* What a separator of n bytes may come after, at most, and the caller has room for. */
static size_t most_of(const coil_stream *stream, size_t n, size_t size)
{
    return size < n || size - n < stream->limit ? size : stream->limit + n;
}

/* As far as the separator, or the end, to `to`: so it is counted, and given out. */
static ssize_t take_until(coil_stream *stream, const void *separator, size_t n, void *to,
                          size_t size)
{
    ssize_t result = coil__endpoint_spend(&stream->endpoint);
    size_t taken = 0;

    if (result == 0)
        result = find(stream, separator, n, most_of(stream, n, size));
    if (result > 0)
        taken = coil__buffer_take(&stream->buffer, to, (size_t)result);
    else if (result == -ENODATA)
        taken = coil__buffer_take(&stream->buffer, to, size);
    stream->transferred[COIL__IN] = taken;
    return result;
}

ssize_t coil_read_until(coil_stream *stream, const void *separator, size_t n, void *buf,
                        size_t size)
{
    ssize_t result;

    if (n == 0)
        return -EINVAL;
    result = coil__endpoint_enter(&stream->endpoint, COIL__IN, "coil_read_until");
    if (result < 0)
        return result;
    result = take_until(stream, separator, n, buf, size);
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result;
}

/* The '\n' is taken into the line, where the '\0' then stands. */
ssize_t coil_read_line(coil_stream *stream, char *line, size_t size)
{
    ssize_t result;

    if (size == 0)
        return -EINVAL;
    result = coil__endpoint_enter(&stream->endpoint, COIL__IN, "coil_read_line");
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
        return -EMSGSIZE;
    while (result == 0 && coil__buffer_count(&stream->buffer) < at_least) {
        result = fill(stream, at_least);
        if (result == 0)
            break; /* the end */
        if (result > 0)
            result = 0;
    }
    return result < 0 ? result : (ssize_t)coil__buffer_count(&stream->buffer);
}

ssize_t coil_peek(coil_stream *stream, const void **data, size_t at_least)
{
    ssize_t result = coil__endpoint_enter(&stream->endpoint, COIL__IN, "coil_peek");

    if (result < 0)
        return result;
    result = wait_for_bytes(stream, at_least);
    if (result >= 0)
        *data = result > 0 ? coil__buffer_data(&stream->buffer) : "";
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return result;
}

void coil_stream_consume(coil_stream *stream, size_t n)
{
    if (stream->endpoint.busy[COIL__IN])
        coil__misuse("coil_stream_consume: a task is reading the stream");
    if (n > coil__buffer_count(&stream->buffer))
        coil__misuse("coil_stream_consume: %zu bytes, of %zu that were peeked at", n,
                     coil__buffer_count(&stream->buffer));
    coil__buffer_take(&stream->buffer, NULL, n);
}

int coil_stream_set_limit(coil_stream *stream, size_t bytes)
{
    if (bytes == 0 || bytes > SSIZE_MAX / 2)
        return -EINVAL;
    stream->limit = bytes;
    return 0;
}

bool coil_stream_at_end(const coil_stream *stream)
{
    return stream->ended && coil__buffer_count(&stream->buffer) == 0;
}
