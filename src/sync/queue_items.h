/*
 * queue_items.h - the items of a queue, in the queue's order.
 */
#ifndef COIL_SYNC_QUEUE_ITEMS_H
#define COIL_SYNC_QUEUE_ITEMS_H

#include <coil/queue.h>

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

/* Add a copy of *item, ignoring maxsize. Returns 0, or -ENOMEM if nothing was added. */
int coil__queue_items_push(coil_queue *queue, const void *item);

/* Move the next item to *item. The queue must not be empty. */
void coil__queue_items_pop(coil_queue *queue, void *item);

/* Wake the first getter, which then checks the queue again. */
void coil__queue_wake_getter(coil_queue *queue);

void coil__queue_items_clear(coil_queue *queue);
void coil__queue_items_free(coil_queue *queue);

#endif
