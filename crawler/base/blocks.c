/* blocks.c - see blocks.h */
#include "blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_room(struct blocks *blocks, size_t which)
{
    size_t count = blocks->count > 0 ? blocks->count : 8;
    char **longer;

    if (which < blocks->count)
        return 0;
    while (count <= which)
        count *= 2;
    longer = realloc(blocks->at, count * sizeof *longer);
    if (longer == NULL)
        return -ENOMEM;
    memset(longer + blocks->count, 0, (count - blocks->count) * sizeof *longer);
    blocks->at = longer;
    blocks->count = count;
    return 0;
}

void *blocks_reach(struct blocks *blocks, size_t index)
{
    size_t which = index / BLOCKS_ELEMENTS;

    if (make_room(blocks, which) < 0)
        return NULL;
    if (blocks->at[which] == NULL)
        blocks->at[which] =
            blocks->cold != NULL
                ? cold_take(blocks->cold, BLOCKS_ELEMENTS * blocks->element_bytes)
                : calloc(BLOCKS_ELEMENTS, blocks->element_bytes);
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
