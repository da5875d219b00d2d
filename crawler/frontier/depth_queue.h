/*
 * depth_queue.h - targets for later, by their depth; of one depth, the first that was added comes first.
 */
#ifndef CRAWLER_DEPTH_QUEUE_H
#define CRAWLER_DEPTH_QUEUE_H

#include "../base/blocks.h"

#include <stdint.h>

struct target;

/* Zeroes are an empty one. */
struct deeper {
    struct blocks all; /* of struct deeper_entry, from 1; .cold is the caller's to set */
    struct deeper_line *lines; /* by depth */
    size_t line_count;
    size_t count; /* targets that are in it */
    uint32_t made, unused;
};

/* 0 or -ENOMEM. */
int deeper_add(struct deeper *deeper, unsigned depth, struct target *target);

/* The least depth of which there is one. There must be one. */
unsigned deeper_first(const struct deeper *deeper);

/* Take the first of that depth out; NULL if there is none. */
struct target *deeper_take(struct deeper *deeper, unsigned depth);

void deeper_finish(struct deeper *deeper);

#endif
