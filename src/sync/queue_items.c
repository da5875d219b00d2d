/*
 * queue_items.c - the items of a queue: one block of memory, in one of three orders.
 *
 *     first in, first out   a ring buffer: the oldest at `first`, the newest count - 1
 *                           slots later
 *     last in, first out    a stack: its top is the last item
 *     priority              a binary heap: no item is less than its parent; the parent of
 *                           item i is (i - 1) / 2
 *
 * `first` is 0 except in a ring. The block grows by doubling, up to maxsize items, and
 * never shrinks.
 */
#include "queue_items.h"

#include "waiters.h"

#define FIRST_CAPACITY 16

/* ---- the block --------------------------------------------------------------------- */

int coil__queue_items_grow(coil_queue *queue)
{
    size_t capacity = queue->capacity > 0 ? 2 * queue->capacity : FIRST_CAPACITY;
    size_t bytes, tail = queue->capacity - queue->first;
    char *items;

    if (queue->maxsize > 0 && capacity > queue->maxsize)
        capacity = queue->maxsize;
    if (__builtin_mul_overflow(capacity, queue->item_bytes, &bytes))
        return coil__failed(-ENOMEM);
    items = coil__alloc(bytes > 0 ? bytes : 1);
    if (items == NULL)
        return coil__failed(-ENOMEM);
    if (tail > queue->count)
        tail = queue->count;
    if (queue->count > 0) {
        memcpy(items, coil__queue_slot(queue, 0), tail * queue->item_bytes);
        memcpy(items + tail * queue->item_bytes, queue->items,
               (queue->count - tail) * queue->item_bytes);
    }
    coil__free(queue->items);
    queue->items = items;
    queue->capacity = capacity;
    queue->first = 0;
    coil__queue_be_careful(queue); /* a static initialiser cannot call this function */
    return 0;
}

void coil__queue_items_clear(coil_queue *queue)
{
    queue->first = queue->count = 0;
}

void coil__queue_items_free(coil_queue *queue)
{
    coil__free(queue->items);
    queue->items = NULL;
    queue->capacity = queue->first = queue->count = 0;
}

/* ---- the heap ---------------------------------------------------------------------- */

/*
 * Insert *item on the path from the free slot at the end to the top. Items on this path
 * that must come after it move down.
 */
static void sift_up(coil_queue *queue, const void *item)
{
    size_t hole = queue->count;

    while (hole > 0) {
        size_t parent = (hole - 1) / 2;

        if (queue->compare(item, coil__queue_slot(queue, parent)) >= 0)
            break;
        coil__queue_copy_item(queue, coil__queue_slot(queue, hole),
                              coil__queue_slot(queue, parent));
        hole = parent;
    }
    coil__queue_copy_item(queue, coil__queue_slot(queue, hole), item);
}

/*
 * Insert *item, which was the last item, at or below the free slot at the top. Items that
 * must come before it move up.
 */
static void sift_down(coil_queue *queue, const void *item)
{
    size_t hole = 0, child;

    while ((child = 2 * hole + 1) < queue->count) {
        if (child + 1 < queue->count &&
            queue->compare(coil__queue_slot(queue, child + 1),
                           coil__queue_slot(queue, child)) < 0)
            child++;
        if (queue->compare(item, coil__queue_slot(queue, child)) <= 0)
            break;
        coil__queue_copy_item(queue, coil__queue_slot(queue, hole),
                              coil__queue_slot(queue, child));
        hole = child;
    }
    if (hole < queue->count)
        coil__queue_copy_item(queue, coil__queue_slot(queue, hole), item);
}

/*
 * Sift in a region in which `compare` must not suspend the task. During a sift the heap
 * has a hole, so another task that used the queue would find an item twice. Not inlined,
 * so that puts and gets of FIFO and LIFO queues need no stack frame for `region`.
 */
static COIL__NOINLINE void sift(coil_queue *queue, const void *item,
                                void (*way)(coil_queue *queue, const void *item))
{
    struct coil__no_suspend region;

    coil__no_suspend_enter(&region, "a priority queue calls its compare function");
    way(queue, item);
    coil__no_suspend_exit(&region);
}

/* ---- push and pop ------------------------------------------------------------------ */

static coil_queue_order order_of(const coil_queue *queue)
{
    return (coil_queue_order)(queue->order & ~COIL__QUEUE_CAREFUL);
}

void coil__queue_be_careful(coil_queue *queue)
{
    if (!coil__loop_is_debugged())
        return;
    queue->order = (coil_queue_order)(queue->order | COIL__QUEUE_CAREFUL);
    coil__waiters_bind_in_debug_mode(&queue->getters);
    coil__waiters_bind_in_debug_mode(&queue->putters);
    coil__waiters_bind_in_debug_mode(&queue->finished.waiters);
}

void coil__queue_push_with_care(coil_queue *queue, const void *item)
{
    if (queue->order >= COIL__QUEUE_CAREFUL) {
        if (item == NULL && queue->item_bytes > 0)
            coil__misuse_null("coil_queue_put", "an item");
        coil__waiters_check(&queue->getters, "coil_queue_put");
    }
    if (order_of(queue) == COIL_QUEUE_PRIORITY)
        sift(queue, item, sift_up);
    else
        coil__queue_copy_item(queue, coil__queue_slot(queue, queue->count), item);
}

void coil__queue_pop_with_care(coil_queue *queue, void *item)
{
    if (queue->order >= COIL__QUEUE_CAREFUL) {
        if (item == NULL && queue->item_bytes > 0)
            coil__misuse_null("coil_queue_get", "an item");
        coil__waiters_check(&queue->getters, "coil_queue_get");
    }
    queue->count--;
    switch (order_of(queue)) {
    case COIL_QUEUE_FIFO:
        coil__queue_pop_first(queue, item);
        break;
    case COIL_QUEUE_LIFO:
        coil__queue_copy_item(queue, item, coil__queue_slot(queue, queue->count));
        break;
    case COIL_QUEUE_PRIORITY:
        coil__queue_copy_item(queue, item, coil__queue_slot(queue, 0));
        sift(queue, coil__queue_slot(queue, queue->count), sift_down);
        break;
    }
}
