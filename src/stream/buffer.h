/*
 * buffer.h - the bytes that a stream has read ahead.
 *
 *     bytes         begin          end            size
 *       | given out   | unread      | room          |
 *
 * A stream gets a buffer when it first reads ahead; NULL is an empty buffer. The buffer
 * grows up to the stream's limit while reads fill it, and shrinks to its first size when
 * they no longer do. The buffer is released when the stream is freed. An empty buffer is
 * also released while a task waits until the stream is readable. Some buffers of the
 * first size are cached for other streams, because calling malloc(3) and free(3) for each
 * line of a slow conversation would be measurably slower.
 */
#ifndef COIL_STREAM_BUFFER_H
#define COIL_STREAM_BUFFER_H

#include "../base/base.h"

#define COIL__LOOK_AHEAD ((size_t)64 * 1024) /* the default limit */

struct coil__buffer {
    size_t begin, end, size;
    union {
        bool filled;               /* the last read filled the buffer */
        struct coil__buffer *next; /* spare */
    };
    char bytes[];
};

static inline size_t coil__buffer_count(const struct coil__buffer *buffer)
{
    return buffer != NULL ? buffer->end - buffer->begin : 0;
}

/* Return the unread bytes. The buffer must not be NULL. */
static inline const char *coil__buffer_data(const struct coil__buffer *buffer)
{
    return buffer->bytes + buffer->begin;
}

/*
 * Make room for at least one more byte. The buffer must contain fewer than `most` bytes,
 * and grows to at most `most` bytes. Returns 0 or -ENOMEM.
 */
int coil__buffer_make_room(struct coil__buffer **buffer, size_t most);

/* Called after `n` bytes were stored in the buffer's room. */
void coil__buffer_add(struct coil__buffer *buffer, size_t n);

/*
 * Remove the first n bytes, or all bytes if there are fewer. If `to` is not NULL, copy
 * the bytes to `to`.
 */
size_t coil__buffer_take(struct coil__buffer *buffer, void *to, size_t n);

/* Free the buffer, if there is one. */
void coil__buffer_drop(struct coil__buffer **buffer);

#endif
