/*
 * buffer.c - what a stream has read and nobody has asked for yet.
 */
#include "buffer.h"

#include <string.h>

#define FIRST_SIZE ((size_t)4096)

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Bytes are moved only where as many were given out before, or nothing else helps. */
static void move_to_front(struct coil__buffer *b)
{
    size_t count = coil__buffer_count(b);

    if (b->begin == 0 || (b->begin < count && b->end < b->size))
        return;
    memmove(b->bytes, b->bytes + b->begin, count);
    b->begin = 0;
    b->end = count;
}

static size_t best_size(const struct coil__buffer *b, size_t most)
{
    size_t count = coil__buffer_count(b);

    if (b->size == 0 || (count == 0 && !b->filled))
        return smaller(FIRST_SIZE, most);
    if (b->filled || count == b->size)
        return smaller(b->size * 2, most);
    return b->size;
}

int coil__buffer_make_room(struct coil__buffer *b, size_t most)
{
    size_t size = best_size(b, most);
    size_t count = coil__buffer_count(b);
    char *bytes;

    if (count == 0)
        b->begin = b->end = 0;
    if (size > b->size || (count == 0 && size < b->size)) {
        bytes = coil__realloc(b->bytes, size);
        if (bytes != NULL) {
            b->bytes = bytes;
            b->size = size;
        } else if (count == b->size) {
            return -ENOMEM;
        } /* else it is only less than one would like */
    }
    move_to_front(b);
    return 0;
}

void coil__buffer_add(struct coil__buffer *b, size_t n)
{
    b->end += n;
    b->filled = b->end == b->size;
}

size_t coil__buffer_take(struct coil__buffer *b, void *to, size_t n)
{
    n = smaller(n, coil__buffer_count(b));
    if (to != NULL && n > 0)
        memcpy(to, coil__buffer_data(b), n);
    b->begin += n;
    return n;
}

void coil__buffer_finish(struct coil__buffer *b)
{
    coil__free(b->bytes);
}
