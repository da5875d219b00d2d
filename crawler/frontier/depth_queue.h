/*
 * depth_queue.h - a first-in, first-out queue of targets for each depth.
 */
#ifndef CRAWLER_DEPTH_QUEUE_H
#define CRAWLER_DEPTH_QUEUE_H

#include "../base/blocks.h"

#include <stdint.h>

struct target;

/* Initialize with zeroes. */
struct depth_queue {
    struct blocks all;        /* struct depth_entry, from index 1; set .cold before use */
    struct depth_line *lines; /* one list for each depth */
    size_t line_count;
    size_t count; /* number of targets in all lists */
    uint32_t made, unused;
};

/* Append a target to the list of its depth. Returns 0 or -ENOMEM. */
int depth_queue_add(struct depth_queue *depth_queue, unsigned depth,
                    struct target *target);

/* Return the lowest depth that has a target. The queue must not be empty. */
unsigned depth_queue_first(const struct depth_queue *depth_queue);

/* Remove and return the first target of this depth, or return NULL if there is none. */
struct target *depth_queue_take(struct depth_queue *depth_queue, unsigned depth);

void depth_queue_finish(struct depth_queue *depth_queue);

#endif
