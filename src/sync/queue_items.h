/*
 * queue_items.h - the items of a queue, in the queue's order.
 *
 * Putting into a FIFO queue and getting from it are inline: this takes a sixth off the
 * time of an item that nobody waits for.
 */
#ifndef COIL_SYNC_QUEUE_ITEMS_H
#define COIL_SYNC_QUEUE_ITEMS_H

#include "../base/base.h"

#include <coil/queue.h>

#include <string.h>

/*
 * This bit is set in `order` in debug mode. The hot paths test `order` anyway, so they
 * need no additional test for debug mode.
 */
#define COIL__QUEUE_CAREFUL 4u

/*
 * If the thread's loop is in debug mode, set COIL__QUEUE_CAREFUL and bind the queue to
 * the loop.
 */
void coil__queue_be_careful(coil_queue *queue);

/* Make room for more items. Returns 0 or -ENOMEM. */
int coil__queue_items_grow(coil_queue *queue);

/* Push an item in debug mode, or to a priority queue. */
void coil__queue_push_with_care(coil_queue *queue, const void *item);

/* Pop an item in debug mode, or from a queue that is not a FIFO queue. */
void coil__queue_pop_with_care(coil_queue *queue, void *item);

/* The address of the i-th item, or of the i-th free slot after the items. */
static inline char *coil__queue_slot(const coil_queue *queue, size_t i)
{
    size_t at = queue->first + i;

    if (at >= queue->capacity)
        at -= queue->capacity;
    return queue->items + at * queue->item_bytes;
}

/*
 * Copy an item. Most items are pointers, which are copied by two instructions instead of
 * a call to memcpy(). COIL__FORGET hides the objects from link-time optimisation: without
 * it, the compiler would warn about this branch if a caller's items have another size,
 * although the branch is not taken then.
 */
static inline void coil__queue_copy_item(const coil_queue *queue, void *to,
                                         const void *from)
{
    COIL__FORGET(to);
    COIL__FORGET(from);
    if (queue->item_bytes == sizeof(void *))
        memcpy(to, from, sizeof(void *));
    else if (queue->item_bytes > 0)
        memcpy(to, from, queue->item_bytes);
}

static inline void coil__queue_pop_first(coil_queue *queue, void *item)
{
    coil__queue_copy_item(queue, item, coil__queue_slot(queue, 0));
    queue->first = queue->first + 1 < queue->capacity ? queue->first + 1 : 0;
}

/* Add a copy of *item, ignoring maxsize. Returns 0, or -ENOMEM if nothing was added. */
static inline int coil__queue_items_push(coil_queue *queue, const void *item)
{
    if (COIL__UNLIKELY(queue->count == queue->capacity)) {
        int rc = coil__queue_items_grow(queue);

        if (rc < 0)
            return rc;
    }
    if (COIL__UNLIKELY(queue->order >= COIL_QUEUE_PRIORITY))
        coil__queue_push_with_care(queue, item);
    else
        coil__queue_copy_item(queue, coil__queue_slot(queue, queue->count), item);
    queue->count++;
    return 0;
}

/* Move the next item to *item. The queue must not be empty. */
static inline void coil__queue_items_pop(coil_queue *queue, void *item)
{
    if (COIL__UNLIKELY(queue->order != COIL_QUEUE_FIFO)) {
        coil__queue_pop_with_care(queue, item);
        return;
    }
    queue->count--;
    coil__queue_pop_first(queue, item);
}

/* Wake the first getter, which then checks the queue again. */
void coil__queue_wake_getter(coil_queue *queue);

void coil__queue_items_clear(coil_queue *queue);
void coil__queue_items_free(coil_queue *queue);

#endif
