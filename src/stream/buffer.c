/*
 * buffer.c - the bytes that a stream has read ahead.
 */
#include "buffer.h"

#include "../loop/loop.h"

#include <string.h>

#define FIRST_SIZE ((size_t)4096)
#define SPARE_MOST 16

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- spare buffers ----------------------------------------------------------------- */

/*
 * Spare buffers of this thread, each of FIRST_SIZE bytes. Spare buffers are freed when
 * the thread's loop closes.
 */
static COIL__THREAD_LOCAL struct {
    struct coil__buffer *first;
    unsigned count;
    coil_loop *loop; /* the loop that will call the hook when it closes, or NULL */
    struct coil__close_hook hook;
} spare;

static void free_spare(coil_loop *loop)
{
    (void)loop;
    while (spare.first != NULL) {
        struct coil__buffer *buffer = spare.first;

        spare.first = buffer->next;
        coil__free(buffer);
    }
    spare.count = 0;
    spare.loop = NULL;
}

static void give_back(struct coil__buffer *buffer)
{
    coil_loop *loop = coil_loop_current();

    if (loop == NULL || loop->closing || buffer->size != FIRST_SIZE ||
        spare.count == SPARE_MOST) {
        coil__free(buffer);
        return;
    }
    if (spare.loop == NULL) {
        spare.loop = loop;
        spare.hook.closing = free_spare;
        coil__loop_add_close_hook(loop, &spare.hook);
    }
    buffer->next = spare.first;
    spare.first = buffer;
    spare.count++;
}

/*
 * Return a buffer of `size` bytes with the content of `old`, or NULL if memory runs out.
 */
static struct coil__buffer *resize(struct coil__buffer *old, size_t size)
{
    struct coil__buffer *buffer;

    if (old == NULL && size == FIRST_SIZE && spare.first != NULL) {
        buffer = spare.first;
        spare.first = buffer->next;
        spare.count--;
    } else {
        buffer = coil__realloc(old, sizeof *buffer + size);
    }
    if (buffer == NULL)
        return NULL;
    if (old == NULL)
        *buffer = (struct coil__buffer){0};
    buffer->size = size;
    return buffer;
}

void coil__buffer_drop(struct coil__buffer **buffer)
{
    if (*buffer != NULL)
        give_back(*buffer);
    *buffer = NULL;
}

/* ---- bytes ------------------------------------------------------------------------- */

/*
 * Move the unread bytes to the front of the buffer, but only if this frees at least as
 * many bytes as it moves, or if there is no room behind them.
 */
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

    if (b == NULL || (count == 0 && !b->filled))
        return smaller(FIRST_SIZE, most);
    if (b->filled || count == b->size)
        return smaller(b->size * 2, most);
    return b->size;
}

int coil__buffer_make_room(struct coil__buffer **buffer, size_t most)
{
    size_t size = best_size(*buffer, most),
           before = *buffer != NULL ? (*buffer)->size : 0;
    size_t count = coil__buffer_count(*buffer);
    struct coil__buffer *resized;

    if (size > before || (count == 0 && size < before)) {
        resized = resize(*buffer, size);
        if (resized != NULL)
            *buffer = resized;
        else if (count == before)
            return coil__failed(-ENOMEM);
        /* if memory runs out, use the room that is left */
    }
    if (count == 0)
        (*buffer)->begin = (*buffer)->end = 0;
    move_to_front(*buffer);
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
    if (n == 0)
        return 0;
    if (to != NULL)
        memcpy(to, coil__buffer_data(b), n);
    b->begin += n;
    return n;
}
