/*
 * buffer.h - what a stream has read and nobody has asked for yet.
 *
 *     bytes         begin          end            size
 *       | given out   | to be had   | room          |
 *
 * No memory before the first look ahead. It grows to what the stream's limit allows while
 * reads come back full, and shrinks to its first size when they no longer do; it is not
 * given back altogether, since a malloc(3) and a free(3) for each line of a slow
 * conversation cost more than 4 KiB beside a stack.
 */
#ifndef COIL_NET_BUFFER_H
#define COIL_NET_BUFFER_H

#include "../base/base.h"

#define COIL__LOOK_AHEAD ((size_t)64 * 1024) /* the limit, if none was set */

struct coil__buffer {
    size_t begin, end;
    char *bytes;
    size_t size;
    bool filled; /* the latest read took all the room there was */
};

static inline size_t coil__buffer_count(const struct coil__buffer *buffer)
{
    return buffer->end - buffer->begin;
}

static inline const char *coil__buffer_data(const struct coil__buffer *buffer)
{
    return buffer->bytes + buffer->begin;
}

/*
 * Make room behind the end, at least one byte, of at most `most` bytes in all, of which
 * there are fewer now. Returns 0 or -ENOMEM.
 */
int coil__buffer_make_room(struct coil__buffer *buffer, size_t most);

/* `n` bytes were put there. */
void coil__buffer_add(struct coil__buffer *buffer, size_t n);

/* The first n bytes, or as many as there are, go; they are copied if `to` is not NULL. */
size_t coil__buffer_take(struct coil__buffer *buffer, void *to, size_t n);

void coil__buffer_finish(struct coil__buffer *buffer);

#endif
