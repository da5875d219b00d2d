/*
 * task_index.c - finds a task by its address: a hash table with open addressing.
 */
#include "reading.h"

#include <stdlib.h>

/*
 * Return an address's place in the table. The seed is random, so that a hostile program
 * cannot choose colliding addresses.
 */
static size_t place_of(const struct private *p, uint64_t address)
{
    uint64_t h = (address ^ p->seed) * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(h >> 32) & (p->index_size - 1);
}

bool tasks_index(struct snapshot *s)
{
    struct private *p = s->private;
    size_t size = p->index_size == 0 ? 1024 : p->index_size * 2;

    free(p->index);
    p->index_size = size;
    p->index = malloc(size * sizeof *p->index);
    if (p->index == NULL)
        return false;
    memset(p->index, 0xff, size * sizeof *p->index);
    for (size_t i = 0; i < s->task_count; i++) {
        size_t at = place_of(p, s->tasks[i].address);

        while (p->index[at] != NONE)
            at = (at + 1) & (size - 1);
        p->index[at] = (uint32_t)i;
    }
    return true;
}

uint32_t tasks_find(const struct snapshot *s, uint64_t address)
{
    const struct private *p = s->private;
    size_t at = place_of(p, address);

    for (; p->index[at] != NONE; at = (at + 1) & (p->index_size - 1))
        if (s->tasks[p->index[at]].address == address)
            return p->index[at];
    return NONE;
}

struct task *tasks_add(struct snapshot *s, const struct task *task)
{
    struct private *p = s->private;
    size_t at, room = p->task_room;

    if ((s->task_count + 1) * 2 > p->index_size && !tasks_index(s))
        return NULL;
    if (!array_grow(&s->tasks, &p->task_room, s->task_count, sizeof *task) ||
        !array_grow(&p->group_next, &room, s->task_count, sizeof *p->group_next))
        return NULL;
    at = place_of(p, task->address);
    while (p->index[at] != NONE && s->tasks[p->index[at]].address != task->address)
        at = (at + 1) & (p->index_size - 1);
    p->index[at] = (uint32_t)s->task_count; /* may replace a task that has ended */
    s->tasks[s->task_count] = *task;
    p->group_next[s->task_count] = 0;
    return &s->tasks[s->task_count++];
}

bool tasks_drop(struct snapshot *s, size_t first, size_t links)
{
    if (!image_spend(s->image, s->private->index_size / 16))
        return true; /* the budget is exhausted */
    s->task_count = first;
    s->private->link_count = links;
    s->private->index_size /= 2; /* tasks_index() doubles it */
    return tasks_index(s);
}
