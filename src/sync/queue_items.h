/*
 * queue_items.h - what is in a queue, in its order.
 */
#ifndef COIL_SYNC_QUEUE_ITEMS_H
#define COIL_SYNC_QUEUE_ITEMS_H

#include <coil/queue.h>

/* Add a copy of *item: 0, or -ENOMEM and nothing is added. It does not look at maxsize.
 */
int coil__queue_items_push(coil_queue *queue, const void *item);

/* Move the one whose turn it is to *item; there must be one. */
void coil__queue_items_pop(coil_queue *queue, void *item);

void coil__queue_items_clear(coil_queue *queue);
void coil__queue_items_free(coil_queue *queue);

#endif
