/*
 * reading.h - declarations shared by the files that read a snapshot.
 *
 *     snapshot.c      the loops, and the lists of their tasks
 *     task_index.c    finds a task by its address
 *     read_task.c     copies a task until the copy is consistent
 *     copy_stacks.c   copies the task's stacks
 *     read_wait.c     reads the details of a task's wait
 *     find_edges.c    finds which tasks each task waits for
 */
#ifndef COIL_PS_READING_H
#define COIL_PS_READING_H

#include "snapshot.h"

#include <string.h>

#define BLOCK_MAX 4096
#define CORO_BYTES 96
#define STACK_BYTES_MAX ((size_t)1 << 20) /* maximum bytes copied per stack */
#define COPY_BYTES (2 * STACK_BYTES_MAX)  /* maximum for all stacks of a task */
#define STACK_STEPS 8                     /* cost of unwinding a stack */
#define EDGES_MAX ((size_t)1 << 24)

/* A pointer from a task to a future or a group, which is turned into edges later. */
struct link {
    uint32_t task;
    bool is_group;  /* `address` is a group's first link, else an awaited future */
    bool is_member; /* see EDGE_IS_MEMBER */
    uint64_t address, end;
};

struct wait_class {
    uint64_t address;
    char *what;
    unsigned char bytes[512];
    bool known;
};

struct private
{
    uint32_t *index; /* hash table: finds a task by its address */
    size_t index_size;
    uint64_t seed;
    struct link *links;
    size_t link_count, link_room;
    uint64_t *group_next; /* for each task, the next link in its group */
    size_t task_room, loop_room, edge_room;
    struct wait_class *classes;
    size_t class_count, class_room;
    uint64_t words_at; /* address of `words` in the process */
    const char *words;
    char **texts;
    size_t text_count, text_room;
    unsigned char *memory;                /* COPY_BYTES bytes, for copies of stacks */
    struct chunk *kept_first, *kept_last; /* stacks to unwind later */
    bool failed;
};

struct reading {
    struct snapshot *snapshot;
    const struct table *table;
    struct loop *loop;
    uint64_t address;
    unsigned char block[BLOCK_MAX];
    struct copies copies;
    struct coroutine coroutines[COROUTINES_MAX];
    size_t coroutine_count;
    bool current;
    bool unreadable; /* a part of the task's stacks is unreadable */
};

/* ---- small things ------------------------------------------------------------------ */

static inline uint64_t u64(const void *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t u32(const void *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint16_t u16(const void *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* Take steps from the budget. Returns false if the budget is exhausted. */
static inline bool spend(const struct reading *r, uint64_t steps)
{
    return image_spend(r->snapshot->image, steps);
}

/* Return the value of a row in coil's table. */
static inline uint16_t row(const struct reading *r, enum coil__outside_key key)
{
    return r->table->values[key];
}

static inline bool has_row(const struct reading *r, enum coil__outside_key key)
{
    return r->table->has[key];
}

/* Return the address of a member in the copied control block. */
static inline const unsigned char *member(const struct reading *r,
                                          enum coil__outside_key key)
{
    return r->block + row(r, key);
}

static inline const unsigned char *coro_member(const struct reading *r,
                                               enum coil__outside_key key)
{
    return r->block + row(r, COIL__AT_TASK_CORO) + row(r, key);
}

/* Return the time of CLOCK_MONOTONIC. */
int64_t read_clock_ns(void);

/* Return the pointer stored at an address, or 0 if it cannot be read. */
uint64_t copies_pointer(const struct copies *copies, uint64_t address);

/* ---- the index of tasks ------------------------------------------------------------ */

/* Make the index larger, and add all tasks to it. Returns false if memory ran out. */
bool tasks_index(struct snapshot *s);

/* Return the index of the task at this address, or NONE. */
uint32_t tasks_find(const struct snapshot *s, uint64_t address);

/* Add a task to the snapshot and to the index. Returns NULL if memory ran out. */
struct task *tasks_add(struct snapshot *s, const struct task *task);

/* Remove tasks from index `first` on, and links from index `links` on. */
bool tasks_drop(struct snapshot *s, size_t first, size_t links);

/* ---- a task ------------------------------------------------------------------------ */

/*
 * Read the task at r->address, and add it to the snapshot. Returns false if the task's
 * control block is unreadable.
 */
bool task_read(struct reading *r);

/* Copy the stacks of the task and of its generators, the innermost coroutine first. */
bool stacks_copy(struct reading *r, struct task *task, uint64_t coro);

/* Store copies of the task's stacks for stacks_use(). */
void stacks_keep(const struct reading *r, uint32_t task);

/* Call on_stack for all stored copies. */
void stacks_use(struct snapshot *s);

void stacks_forget(struct private *p);

/*
 * Return the address of the task's wait if it has not completed, else 0: see
 * coil__task_waits().
 */
uint64_t wait_incomplete(const struct reading *r);

/* Read the details of the task's wait. */
void wait_read(struct reading *r, struct task *task, uint64_t wait);

/* ---- edges ------------------------------------------------------------------------- */

/* Record the children of a group as links of the task that is being read. */
void edges_add_children(struct reading *r, uint64_t group, bool is_member);
void edges_add_link(struct reading *r, struct link link);

/* Turn the links into edges. Returns false if memory ran out. */
bool edges_find(struct snapshot *s);

#endif
