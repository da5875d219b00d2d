/*
 * blocks.h - an array whose elements never move. The array consists of blocks, each of
 * which is allocated when one of its elements is first needed.
 *
 *     struct blocks numbers = {.element_bytes = sizeof *number};
 *
 *     number = blocks_reach(&numbers, index);   // zeroes if it is new
 *     number = blocks_at(&numbers, index);      // requires an earlier blocks_reach()
 */
#ifndef CRAWLER_BLOCKS_H
#define CRAWLER_BLOCKS_H

#include "cold.h"

#define BLOCKS_ELEMENTS 1024 /* number of elements in each block */

struct blocks {
    size_t element_bytes;
    struct cold *cold; /* source of the blocks; NULL: the heap */
    char **at;
    size_t count; /* number of pointers in `at`, which are NULL for unused blocks */
};

/* Return the element, allocating its block if necessary. Returns NULL if memory runs
   out. */
void *blocks_reach(struct blocks *blocks, size_t index);

/* Return an element, whose block must be allocated. */
static inline void *blocks_at(const struct blocks *blocks, size_t index)
{
    return blocks->at[index / BLOCKS_ELEMENTS] +
           index % BLOCKS_ELEMENTS * blocks->element_bytes;
}

/* Return the element, or NULL if its block is not allocated. */
void *blocks_find(const struct blocks *blocks, size_t index);

/* Free blocks on the heap. Blocks in `cold` are freed by the owner of `cold`. */
void blocks_finish(struct blocks *blocks);

#endif
