/* blocks.c - see blocks.h */
#include "blocks.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64 /* bytes */

/*
 * Allocate a block at the beginning of a cache line. So an element of 32 bytes never lies
 * in two lines, of which a prefetch would load only the first.
 */
static void *allocate_block(size_t n)
{
    void *block = aligned_alloc(CACHE_LINE, n);

    return block != NULL ? memset(block, 0, n) : NULL;
}

void *blocks_reach(struct blocks *blocks, size_t index)
{
    size_t which = index / BLOCKS_ELEMENTS;

    if (array_reach(&blocks->at, &blocks->count, sizeof *blocks->at, which) < 0)
        return NULL;
    if (blocks->at[which] == NULL)
        blocks->at[which] =
            blocks->cold != NULL
                ? cold_take(blocks->cold, BLOCKS_ELEMENTS * blocks->element_bytes)
                : allocate_block(BLOCKS_ELEMENTS * blocks->element_bytes);
    return blocks->at[which] != NULL ? blocks_at(blocks, index) : NULL;
}

void *blocks_find(const struct blocks *blocks, size_t index)
{
    size_t which = index / BLOCKS_ELEMENTS;

    return which < blocks->count && blocks->at[which] != NULL ? blocks_at(blocks, index)
                                                              : NULL;
}

void blocks_finish(struct blocks *blocks)
{
    for (size_t i = 0; blocks->cold == NULL && i < blocks->count; i++)
        free(blocks->at[i]);
    free(blocks->at);
    blocks->at = NULL;
    blocks->count = 0;
}
