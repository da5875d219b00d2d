/* depth_queue.h - a queue of targets for each depth, in the order of insertion. */
#ifndef CRAWLER_DEPTH_QUEUE_H
#define CRAWLER_DEPTH_QUEUE_H

#include "../base/blocks.h"

#include <stdint.h>

struct target;

/* Initialize with zeroes. */
struct depth_queue {
    struct blocks all;        /* struct depth_entry, from index 1; caller sets .cold */
    struct depth_line *lines; /* one for each depth */
    size_t line_count;
    size_t count; /* number of targets in the queue */
    uint32_t made, unused;
};

/* Append a target to the list of its depth. Returns 0 or -ENOMEM. */
int depth_queue_add(struct depth_queue *depth_queue, unsigned depth,
                    struct target *target);

/* Return the lowest depth with a target. The queue must not be empty. */
unsigned depth_queue_first(const struct depth_queue *depth_queue);

/* Remove and return the first target of this depth, or return NULL. */
struct target *depth_queue_take(struct depth_queue *depth_queue, unsigned depth);

void depth_queue_finish(struct depth_queue *depth_queue);

#endif
