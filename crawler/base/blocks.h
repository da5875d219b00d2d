/*
 * blocks.h - an array whose elements never move: in blocks, each of which is made when it is needed.
 *
 *     struct blocks numbers = {.element_bytes = sizeof *number};
 *
 *     number = blocks_reach(&numbers, index);      // zeroes, where nobody has been before
 *     number = blocks_at(&numbers, index);         // of one that was reached
 */
#ifndef CRAWLER_BLOCKS_H
#define CRAWLER_BLOCKS_H

#include "cold.h"

#define BLOCKS_ELEMENTS 1024 /* in one of them */

struct blocks {
    size_t element_bytes;
    struct cold *cold; /* what blocks are taken from; NULL: from the heap */
    char **at;
    size_t count; /* of `at`; NULL there: it was never needed */
};

/* The element, whose block is made if it is missing. NULL without memory. */
void *blocks_reach(struct blocks *blocks, size_t index);

/* The element of a block that is there. */
static inline void *blocks_at(const struct blocks *blocks, size_t index)
{
    return blocks->at[index / BLOCKS_ELEMENTS] +
           index % BLOCKS_ELEMENTS * blocks->element_bytes;
}

/* The same; NULL if its block is missing. */
void *blocks_find(const struct blocks *blocks, size_t index);

/* What is cold is given back by who has it. */
void blocks_finish(struct blocks *blocks);

#endif
