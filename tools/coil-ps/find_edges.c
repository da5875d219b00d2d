/*
 * find_edges.c - finds which tasks each task waits for.
 *
 * While a task is read, each pointer to a future or a group is recorded as a link. Once
 * all tasks are known, the links are turned into edges between tasks.
 */
#include "reading.h"

#define EDGE_STEPS_MIN ((uint64_t)1 << 20) /* 1,000 links to groups of 1,000 tasks */

void edges_add_children(struct reading *r, uint64_t group, bool is_member)
{
    uint64_t head = group + row(r, COIL__AT_GROUP_CHILDREN);
    uint64_t first = copies_pointer(&r->copies, head + row(r, COIL__AT_LIST_NEXT));

    if (group != 0 && has_row(r, COIL__AT_GROUP_CHILDREN) && first != 0 && first != head)
        edges_add_link(r, (struct link){.is_group = true,
                                        .is_member = is_member,
                                        .address = first,
                                        .end = head});
}

void edges_add_link(struct reading *r, struct link link)
{
    struct private *p = r->snapshot->private;

    if (p->link_count == EDGES_MAX)
        return;
    if (!array_grow(&p->links, &p->link_room, p->link_count, sizeof *p->links)) {
        p->failed = true;
        return;
    }
    link.task = (uint32_t)r->snapshot->task_count; /* the index that the task will get */
    p->links[p->link_count++] = link;
}

static bool add_edge(struct snapshot *s, struct task *task, uint32_t below,
                     bool is_member)
{
    struct private *p = s->private;

    if (below == NONE || s->tasks[below].state == TASK_HAS_ENDED ||
        s->edge_count == EDGES_MAX)
        return true;
    if (!array_grow(&s->edges, &p->edge_room, s->edge_count, sizeof *s->edges))
        return false;
    s->edges[s->edge_count++] = below | (is_member ? EDGE_IS_MEMBER : 0);
    task->edge_count++;
    return true;
}

/* Add an edge to each task in a group. The group's list was read with its tasks. */
static bool add_group_edges(struct snapshot *s, struct task *task,
                            const struct link *link)
{
    uint16_t at = s->table->values[COIL__AT_TASK_GROUP_LINK];
    uint64_t next = link->address;

    for (size_t i = 0; i < s->task_count && next != link->end && image_spend(s->image, 1);
         i++) {
        uint32_t child = tasks_find(s, next - at);

        if (child == NONE)
            return true;
        if (!add_edge(s, task, child, link->is_member))
            return false;
        next = s->private->group_next[child];
    }
    return true;
}

static bool add_awaited_edge(struct snapshot *s, struct task *task, uint64_t future)
{
    uint32_t below = tasks_find(s, future - s->table->values[COIL__AT_TASK_FUTURE]);

    if (below == NONE)
        return true;
    if (task->future == future && task->first_pending == NONE)
        task->first_pending = below;
    return add_edge(s, task, below, false);
}

/*
 * Turn the links into edges. All links of a task are adjacent, because links are in the
 * order of the tasks.
 */
bool edges_find(struct snapshot *s)
{
    struct private *p = s->private;

    image_grant(s->image, EDGE_STEPS_MIN + 4 * (p->link_count + s->task_count));
    for (size_t i = 0; i < p->link_count && image_spend(s->image, 1); i++) {
        struct link *link = &p->links[i];
        struct task *task;

        if (link->task >= s->task_count)
            continue;
        task = &s->tasks[link->task];
        if (task->edge_count == 0)
            task->edges = (uint32_t)s->edge_count;
        if (link->is_group ? !add_group_edges(s, task, link)
                           : !add_awaited_edge(s, task, link->address))
            return false;
    }
    return true;
}
