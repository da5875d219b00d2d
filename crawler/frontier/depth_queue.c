/*
 * depth_queue.c - a linked list for each depth, in one array of entries.
 *
 * The queue may contain most pages of a site, so its entries can be moved to disk
 * (cold.h). Entries are mostly written and read in array order, which is fast on disk
 * too.
 */
#include "depth_queue.h"

#include "../base/array.h"

#include <errno.h>
#include <stdlib.h>

struct depth_entry {
    struct target *target;
    uint32_t next; /* next entry in the depth's list or in the free list; or 0 */
};

struct depth_line {
    uint32_t first, last;
};

/*
 * Take an entry from the free list, or append a new one. Returns its index, or 0 if
 * memory runs out.
 */
static uint32_t make_entry(struct depth_queue *depth_queue)
{
    uint32_t at = depth_queue->unused;

    if (at > 0) {
        depth_queue->unused =
            ((struct depth_entry *)blocks_at(&depth_queue->all, at))->next;
        return at;
    }
    depth_queue->all.element_bytes = sizeof(struct depth_entry);
    if (depth_queue->made == UINT32_MAX ||
        blocks_reach(&depth_queue->all, depth_queue->made + (size_t)1) == NULL)
        return 0;
    return ++depth_queue->made;
}

int depth_queue_add(struct depth_queue *depth_queue, unsigned depth,
                    struct target *target)
{
    struct depth_line *line;
    uint32_t at;

    if (array_reach(&depth_queue->lines, &depth_queue->line_count,
                    sizeof *depth_queue->lines, depth) < 0)
        return -ENOMEM;
    at = make_entry(depth_queue);
    if (at == 0)
        return -ENOMEM;
    *(struct depth_entry *)blocks_at(&depth_queue->all, at) =
        (struct depth_entry){target, 0};
    line = &depth_queue->lines[depth];
    if (line->first == 0)
        line->first = at;
    else
        ((struct depth_entry *)blocks_at(&depth_queue->all, line->last))->next = at;
    line->last = at;
    depth_queue->count++;
    return 0;
}

unsigned depth_queue_first(const struct depth_queue *depth_queue)
{
    unsigned depth = 0;

    while (depth_queue->lines[depth].first == 0)
        depth++;
    return depth;
}

struct target *depth_queue_take(struct depth_queue *depth_queue, unsigned depth)
{
    struct depth_line *line = &depth_queue->lines[depth];
    uint32_t at = line->first;
    struct depth_entry *entry;

    if (at == 0)
        return NULL;
    entry = blocks_at(&depth_queue->all, at);
    line->first = entry->next;
    entry->next = depth_queue->unused;
    depth_queue->unused = at;
    depth_queue->count--;
    return entry->target;
}

void depth_queue_finish(struct depth_queue *depth_queue)
{
    blocks_finish(&depth_queue->all);
    free(depth_queue->lines);
    *depth_queue = (struct depth_queue){.count = 0};
}
