/* depth_queue.h - targets for later, by their depth, each depth in the order of
   insertion. */
#ifndef CRAWLER_DEPTH_QUEUE_H
#define CRAWLER_DEPTH_QUEUE_H

#include "../base/blocks.h"

#include <stdint.h>

struct target;

/* Zeroes are an empty one. */
struct depth_queue {
    struct blocks all; /* of struct depth_entry, from 1; .cold is the caller's to set */
    struct depth_line *lines; /* by depth */
    size_t line_count;
    size_t count; /* targets that are in it */
    uint32_t made, unused;
};

/* 0 or -ENOMEM. */
int depth_queue_add(struct depth_queue *depth_queue, unsigned depth,
                    struct target *target);

/* The least depth of which there is one. There must be one. */
unsigned depth_queue_first(const struct depth_queue *depth_queue);

/* Remove and return the first target of that depth, or NULL. */
struct target *depth_queue_take(struct depth_queue *depth_queue, unsigned depth);

void depth_queue_finish(struct depth_queue *depth_queue);

#endif
