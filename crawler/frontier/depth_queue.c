/*
 * depth_queue.c - a line for each depth, through one array of entries.
 *
 * Most of a site may stand in here. So entries may be cold, and are written and read in the order in
 * which they lie.
 */
#include "depth_queue.h"

#include "../base/array.h"

#include <errno.h>
#include <stdlib.h>

struct deeper_entry {
    struct target *target;
    uint32_t next; /* in its line, or of what is unused; 0: it is the last */
};

struct deeper_line {
    uint32_t first, last;
};

/* The index of a free one, or 0. */
static uint32_t make_entry(struct deeper *deeper)
{
    uint32_t at = deeper->unused;

    if (at > 0) {
        deeper->unused = ((struct deeper_entry *)blocks_at(&deeper->all, at))->next;
        return at;
    }
    deeper->all.element_bytes = sizeof(struct deeper_entry);
    if (deeper->made == UINT32_MAX ||
        blocks_reach(&deeper->all, deeper->made + (size_t)1) == NULL)
        return 0;
    return ++deeper->made;
}

int deeper_add(struct deeper *deeper, unsigned depth, struct target *target)
{
    struct deeper_line *line;
    uint32_t at;

    if (array_reach(&deeper->lines, &deeper->line_count, sizeof *deeper->lines, depth) <
        0)
        return -ENOMEM;
    at = make_entry(deeper);
    if (at == 0)
        return -ENOMEM;
    *(struct deeper_entry *)blocks_at(&deeper->all, at) =
        (struct deeper_entry){target, 0};
    line = &deeper->lines[depth];
    if (line->first == 0)
        line->first = at;
    else
        ((struct deeper_entry *)blocks_at(&deeper->all, line->last))->next = at;
    line->last = at;
    deeper->count++;
    return 0;
}

unsigned deeper_first(const struct deeper *deeper)
{
    unsigned depth = 0;

    while (deeper->lines[depth].first == 0)
        depth++;
    return depth;
}

struct target *deeper_take(struct deeper *deeper, unsigned depth)
{
    struct deeper_line *line = &deeper->lines[depth];
    uint32_t at = line->first;
    struct deeper_entry *entry;

    if (at == 0)
        return NULL;
    entry = blocks_at(&deeper->all, at);
    line->first = entry->next;
    entry->next = deeper->unused;
    deeper->unused = at;
    deeper->count--;
    return entry->target;
}

void deeper_finish(struct deeper *deeper)
{
    blocks_finish(&deeper->all);
    free(deeper->lines);
    *deeper = (struct deeper){.count = 0};
}
