/*
 * snapshot.c - reads the tasks of an image.
 *
 *     loops --> scheduler --> list of tasks --> read_task() for each
 *                                                   |
 *               control block, stacks, control block again: equal, and quick enough?
 *                                                   |
 *               its wait --> class --> paths to what, object, fd, deadline, futures
 *
 * After that, the edges are found: the tasks in a task's groups, and the tasks that it
 * awaits.
 */
#include "snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TASK_MAX ((size_t)1 << 24)
#define BLOCK_MAX 4096
#define CORO_BYTES 96
#define STACK_BYTES_MAX ((size_t)1 << 20) /* of one stack that are copied */
#define COPY_BYTES (2 * STACK_BYTES_MAX)  /* for the stacks of one task */
#define FUTURES_MAX ((size_t)1 << 18)     /* of one wait */
#define EDGES_MAX ((size_t)1 << 24)
#define REGIONS_MAX 64
#define TRIES 4
#define RESTARTS 3
#define QUICK_NS 200000 /* docs/design/ps.md: a counter of 16 bits */

/* A pointer that has not yet been turned into an edge. */
struct link {
    uint32_t task;
    bool is_group;  /* `address` is the first link of a group; else an awaited future */
    bool is_member; /* of a group that the task need not wait for */
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
    uint32_t *index; /* a hash table of addresses of tasks */
    size_t index_size;
    struct link *links;
    size_t link_count, link_room;
    uint64_t *group_next; /* of each task: its link in its group */
    size_t task_room, loop_room, edge_room;
    struct wait_class *classes;
    size_t class_count, class_room;
    uint64_t words_at; /* the address of `words` in the process */
    const char *words;
    char **texts;
    size_t text_count, text_room;
    unsigned char *memory; /* COPY_BYTES, for copies of stacks */
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
};

/* ---- small things ------------------------------------------------------------------ */

/* Make room for one more element. */
static bool grow(void *array, size_t *room, size_t count, size_t bytes)
{
    size_t wanted = *room == 0 ? 64 : *room * 2;
    void *larger;

    if (count < *room)
        return true;
    larger = realloc(*(void **)array, wanted * bytes);
    if (larger == NULL)
        return false;
    *(void **)array = larger;
    *room = wanted;
    return true;
}

static int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t u64(const void *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t u32(const void *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static uint16_t u16(const void *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

bool copies_read(const struct copies *copies, uint64_t address, void *to, size_t bytes)
{
    for (size_t i = 0; i < copies->count; i++) {
        const struct piece *piece = &copies->pieces[i];

        if (address >= piece->address && address - piece->address < piece->bytes &&
            bytes <= piece->bytes - (address - piece->address)) {
            memcpy(to, (const char *)piece->to + (address - piece->address), bytes);
            return true;
        }
    }
    return image_read(copies->image, address, to, bytes);
}

static uint64_t pointer_at(const struct copies *copies, uint64_t address)
{
    uint64_t value;

    return address != 0 && copies_read(copies, address, &value, 8) ? value : 0;
}

/* The value of a row. */
static uint16_t row(const struct reading *r, enum coil__outside_key key)
{
    return r->table->values[key];
}

static bool has_row(const struct reading *r, enum coil__outside_key key)
{
    return r->table->has[key];
}

/* A member of the control block that was copied. */
static const unsigned char *member(const struct reading *r, enum coil__outside_key key)
{
    return r->block + row(r, key);
}

static const unsigned char *coro_member(const struct reading *r,
                                        enum coil__outside_key key)
{
    return r->block + row(r, COIL__AT_TASK_CORO) + row(r, key);
}

/* ---- the index of tasks ------------------------------------------------------------ */

static size_t hash(uint64_t address, size_t size)
{
    return (size_t)((address >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (size - 1);
}

static bool index_tasks(struct snapshot *s)
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
        size_t at = hash(s->tasks[i].address, size);

        while (p->index[at] != NONE)
            at = (at + 1) & (size - 1);
        p->index[at] = (uint32_t)i;
    }
    return true;
}

/* Return the index of the task at this address, or NONE. */
static uint32_t find_task(const struct snapshot *s, uint64_t address)
{
    const struct private *p = s->private;
    size_t at = hash(address, p->index_size);

    for (; p->index[at] != NONE; at = (at + 1) & (p->index_size - 1))
        if (s->tasks[p->index[at]].address == address)
            return p->index[at];
    return NONE;
}

static struct task *add_task(struct snapshot *s, const struct task *task)
{
    struct private *p = s->private;
    size_t at, room = p->task_room;

    if ((s->task_count + 1) * 2 > p->index_size && !index_tasks(s))
        return NULL;
    if (!grow(&s->tasks, &p->task_room, s->task_count, sizeof *task) ||
        !grow(&p->group_next, &room, s->task_count, sizeof *p->group_next))
        return NULL;
    at = hash(task->address, p->index_size);
    while (p->index[at] != NONE)
        at = (at + 1) & (p->index_size - 1);
    p->index[at] = (uint32_t)s->task_count;
    s->tasks[s->task_count] = *task;
    p->group_next[s->task_count] = 0;
    return &s->tasks[s->task_count++];
}

/* Forget the tasks from this one on. */
static bool drop_tasks(struct snapshot *s, size_t first, size_t links)
{
    s->task_count = first;
    s->private->link_count = links;
    s->private->index_size /= 2; /* index_tasks() doubles it */
    return index_tasks(s);
}

static void add_link(struct reading *r, struct link link)
{
    struct private *p = r->snapshot->private;

    if (p->link_count == EDGES_MAX)
        return;
    if (!grow(&p->links, &p->link_room, p->link_count, sizeof *p->links)) {
        p->failed = true;
        return;
    }
    link.task = (uint32_t)r->snapshot->task_count; /* it is added after its links */
    p->links[p->link_count++] = link;
}

/* ---- classes of waits -------------------------------------------------------------- */

static const char *intern(struct snapshot *s, const char *text)
{
    struct private *p = s->private;

    for (size_t i = 0; i < p->text_count; i++)
        if (strcmp(p->texts[i], text) == 0)
            return p->texts[i];
    if (p->text_count == 4096 ||
        !grow(&p->texts, &p->text_room, p->text_count, sizeof *p->texts))
        return "?";
    p->texts[p->text_count] = strdup(text);
    return p->texts[p->text_count] != NULL ? p->texts[p->text_count++] : "?";
}

/* Read a constant text of the process. The latest is cached, because most tasks wait for
   the same thing. */
static const char *read_words(struct snapshot *s, uint64_t address)
{
    struct private *p = s->private;
    char text[64];

    if (address != 0 && address == p->words_at)
        return p->words;
    if (address == 0 || !image_read_text(s->image, address, text, sizeof text))
        return "?";
    p->words_at = address;
    p->words = intern(s, text);
    return p->words;
}

/*
 * Return the copy of a class, which never changes in the process. NULL if it cannot be
 * read.
 */
static const struct wait_class *find_class(struct reading *r, uint64_t address)
{
    struct snapshot *s = r->snapshot;
    struct private *p = s->private;
    struct wait_class *class;
    size_t bytes = row(r, COIL__CLASS_BYTES);

    for (size_t i = 0; i < p->class_count; i++)
        if (p->classes[i].address == address)
            return p->classes[i].known ? &p->classes[i] : NULL;
    if (p->class_count == 4096 ||
        !grow(&p->classes, &p->class_room, p->class_count, sizeof *p->classes))
        return NULL;
    class = &p->classes[p->class_count++];
    memset(class, 0, sizeof *class);
    class->address = address;
    class->known = image_read(s->image, address, class->bytes, bytes < 8 ? 8 : bytes);
    return class->known ? class : NULL;
}

/* Follow a path of the class. Returns the address of the value, or 0. */
static uint64_t follow(const struct reading *r, const struct wait_class *class,
                       uint64_t wait, enum coil__outside_key key)
{
    size_t offsets = row(r, COIL__AT_PATH_OFFSETS);
    const unsigned char *path;
    uint64_t place;

    if (!has_row(r, key) || row(r, key) + offsets + 4 > sizeof class->bytes)
        return 0;
    path = class->bytes + row(r, key);
    if (path[0] == 0)
        return 0;
    place = wait + (uint64_t)(int64_t)(int16_t)u16(path + offsets);
    if (path[0] == 1)
        return place;
    place = pointer_at(&r->copies, place);
    return place != 0 ? place + (uint64_t)(int64_t)(int16_t)u16(path + offsets + 2) : 0;
}

static uint64_t follow_to_pointer(const struct reading *r, const struct wait_class *class,
                                  uint64_t wait, enum coil__outside_key key)
{
    return pointer_at(&r->copies, follow(r, class, wait, key));
}

/* True if the future is pending; only such a future is recorded as awaited. */
static bool is_pending(const struct reading *r, uint64_t future)
{
    int32_t rc;

    return copies_read(&r->copies, future + row(r, COIL__AT_FUTURE_RC), &rc, sizeof rc) &&
           rc == -EINPROGRESS;
}

static void add_future(struct reading *r, struct task *task, uint64_t pointer,
                       uint64_t inside)
{
    uint64_t future = pointer + inside;

    if (pointer == 0)
        return;
    if (task->future == 0 && is_pending(r, future))
        task->future = future;
    add_link(r, (struct link){.address = future});
}

static void add_array(struct reading *r, struct task *task, uint64_t first,
                      uint64_t count, size_t item, size_t pointer, size_t inside)
{
    for (uint64_t i = 0; i < count && i < FUTURES_MAX; i++)
        add_future(r, task, pointer_at(&r->copies, first + i * item + pointer), inside);
}

static void add_list(struct reading *r, struct task *task, uint64_t head, size_t pointer,
                     size_t inside)
{
    uint64_t link = head;

    for (size_t i = 0; head != 0 && i < 4096; i++) {
        link = pointer_at(&r->copies, link + row(r, COIL__AT_LIST_NEXT));
        if (link == 0 || link == head)
            return;
        add_future(r, task, pointer_at(&r->copies, link + pointer), inside);
    }
}

/* Add the list of a group's children. */
static void add_children(struct reading *r, uint64_t group, bool is_member)
{
    uint64_t head = group + row(r, COIL__AT_GROUP_CHILDREN);
    uint64_t first = pointer_at(&r->copies, head + row(r, COIL__AT_LIST_NEXT));

    if (group != 0 && has_row(r, COIL__AT_GROUP_CHILDREN) && first != 0 && first != head)
        add_link(r, (struct link){.is_group = true,
                                  .is_member = is_member,
                                  .address = first,
                                  .end = head});
}

static void read_futures(struct reading *r, struct task *task,
                         const struct wait_class *class, uint64_t wait)
{
    const unsigned char *b = class->bytes;
    unsigned kind = b[row(r, COIL__AT_CLASS_FUTURES_KIND) % sizeof class->bytes];
    size_t item = u16(b + row(r, COIL__AT_CLASS_FUTURES_ITEM_BYTES) % 510);
    size_t pointer = u16(b + row(r, COIL__AT_CLASS_FUTURES_POINTER) % 510);
    size_t inside = u16(b + row(r, COIL__AT_CLASS_FUTURES_FUTURE) % 510);
    uint64_t first = follow(r, class, wait, COIL__AT_CLASS_FUTURES_FIRST);

    if (!has_row(r, COIL__AT_CLASS_FUTURES_KIND))
        return;
    if (kind == row(r, COIL__FUTURES_ARE_ONE))
        add_future(r, task, pointer_at(&r->copies, first), inside);
    else if (kind == row(r, COIL__FUTURES_ARE_ARRAY))
        add_array(r, task, pointer_at(&r->copies, first),
                  follow_to_pointer(r, class, wait, COIL__AT_CLASS_FUTURES_COUNT), item,
                  pointer, inside);
    else if (kind == row(r, COIL__FUTURES_ARE_LIST))
        add_list(r, task, first, pointer, inside);
    else if (kind == row(r, COIL__FUTURES_ARE_CHILDREN))
        add_children(r, pointer_at(&r->copies, first), false);
}

/* Return when a timer fires: see coil__timer_deadline(). */
static int64_t read_timer(const struct reading *r, uint64_t timer)
{
    uint64_t place = pointer_at(&r->copies, timer + row(r, COIL__AT_TIMER_PLACE));
    uint64_t entries, count;

    if (place == 0)
        return r->loop->now;
    entries = pointer_at(&r->copies, r->loop->address + row(r, COIL__AT_LOOP_TIMERS));
    count = pointer_at(&r->copies, r->loop->address + row(r, COIL__AT_LOOP_TIMER_COUNT));
    if (place > count)
        return INT64_MAX;
    return (int64_t)pointer_at(&r->copies,
                               entries + (place - 1) * row(r, COIL__TIMER_ENTRY_BYTES) +
                                   row(r, COIL__AT_TIMER_ENTRY_WHEN));
}

static void read_lock(const struct reading *r, struct task *task)
{
    unsigned char locked = 0;

    if (strcmp(task->what, "lock") != 0 || task->object == 0 ||
        !has_row(r, COIL__AT_LOCK_OWNER) ||
        !copies_read(&r->copies, task->object + row(r, COIL__AT_LOCK_LOCKED), &locked,
                     1) ||
        locked != 1)
        return;
    copies_read(&r->copies, task->object + row(r, COIL__AT_LOCK_OWNER), &task->lock_owner,
                sizeof task->lock_owner);
}

static void read_wait(struct reading *r, struct task *task, uint64_t wait)
{
    uint64_t address = pointer_at(&r->copies, wait + row(r, COIL__AT_WAIT_CLASS));
    const struct wait_class *class = find_class(r, address);
    uint64_t place, what;
    int32_t fd;

    task->what = "?";
    task->since = (int64_t)pointer_at(&r->copies, wait + row(r, COIL__AT_WAIT_SINCE));
    if (class == NULL)
        return;
    what = u64(class->bytes);
    if (what == 0)
        what = follow_to_pointer(r, class, wait, COIL__AT_CLASS_WHAT_PATH);
    task->what = read_words(r->snapshot, what);
    task->object = follow_to_pointer(r, class, wait, COIL__AT_CLASS_OBJECT);
    place = follow(r, class, wait, COIL__AT_CLASS_FD);
    if (place != 0 && copies_read(&r->copies, place, &fd, sizeof fd))
        task->fd = fd;
    place = follow(r, class, wait, COIL__AT_CLASS_DEADLINE);
    if (place != 0)
        task->deadline = (int64_t)pointer_at(&r->copies, place);
    place = follow(r, class, wait, COIL__AT_CLASS_TIMER);
    if (place != 0)
        task->deadline = read_timer(r, place);
    place = follow(r, class, wait, COIL__AT_CLASS_JOB);
    task->is_job = place != 0;
    place = place != 0 ? pointer_at(&r->copies, place) : 0;
    if (place != 0 && has_row(r, COIL__AT_JOB_THREAD))
        copies_read(&r->copies, place + row(r, COIL__AT_JOB_THREAD), &task->job_thread,
                    sizeof task->job_thread);
    read_lock(r, task);
    read_futures(r, task, class, wait);
}

/* Return the task's wait if it is incomplete, else 0: see coil__task_waits(). */
static uint64_t incomplete_wait(const struct reading *r)
{
    uint64_t wait = u64(member(r, COIL__AT_TASK_WAIT)), source;
    unsigned char done = 0;
    int32_t rc = -EINPROGRESS;

    if (wait == 0 ||
        !copies_read(&r->copies, wait + row(r, COIL__AT_WAIT_DONE), &done, 1) ||
        done != 0)
        return 0;
    source = pointer_at(&r->copies, wait + row(r, COIL__AT_WAIT_SOURCE));
    if (source != 0 && copies_read(&r->copies, source, &rc, sizeof rc) &&
        rc != -EINPROGRESS)
        return 0;
    return wait;
}

/* ---- the control block ------------------------------------------------------------- */

static bool is_linked(const struct reading *r)
{
    uint64_t self = r->address + row(r, COIL__AT_TASK_STEP_LINK);
    uint64_t next =
        u64(member(r, COIL__AT_TASK_STEP_LINK) + row(r, COIL__AT_LIST_NEXT) % 9);

    return next != 0 && next != self;
}

/* True if the task waits or is in the ready queue: its stack does not change. */
static bool stands_still(const struct reading *r)
{
    return !r->current && (u64(member(r, COIL__AT_TASK_WAIT)) != 0 || is_linked(r));
}

static bool is_started(const struct reading *r)
{
    return (*member(r, COIL__AT_TASK_FLAGS) & row(r, COIL__TASK_IS_STARTED)) != 0;
}

static bool has_ended(const struct reading *r)
{
    int32_t rc =
        (int32_t)u32(member(r, COIL__AT_TASK_FUTURE) + row(r, COIL__AT_FUTURE_RC));

    return rc != -EINPROGRESS;
}

/* Compare the members that a step of the task changes. */
static bool same_step(const struct reading *r, const unsigned char *other)
{
    static const struct {
        enum coil__outside_key key;
        size_t bytes;
    } members[] = {{COIL__AT_TASK_STEPS, 2},
                   {COIL__AT_TASK_WAIT, 8},
                   {COIL__AT_TASK_LEAF, 8},
                   {COIL__AT_TASK_FLAGS, 1}};
    size_t coro = row(r, COIL__AT_TASK_CORO);
    size_t sp = coro + row(r, COIL__AT_CORO_SP);
    size_t number = coro + row(r, COIL__AT_CORO_NUMBER);
    size_t state = coro + row(r, COIL__AT_STACK_STATE);

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        size_t at = row(r, members[i].key);

        if (memcmp(r->block + at, other + at, members[i].bytes) != 0)
            return false;
    }
    return memcmp(r->block + sp, other + sp, 8) == 0 &&
           memcmp(r->block + number, other + number, 4) == 0 &&
           r->block[state] == other[state];
}

static bool read_block(struct reading *r, unsigned char *block, uint64_t *current)
{
    const struct piece pieces[] = {
        {r->address, block, row(r, COIL__TASK_BYTES)},
        {r->loop->scheduler + row(r, COIL__AT_SCHEDULER_CURRENT), current, 8}};

    return r->snapshot->image->read(r->snapshot->image, pieces, 2);
}

/* ---- stacks ------------------------------------------------------------------------ */

/* The stack of a light task that is swapped out: its bytes are in a cell. */
static void find_stored(const struct reading *r, const unsigned char *coro,
                        uint64_t *from, uint64_t *bytes)
{
    if (!has_row(r, COIL__STACK_IS_LIGHT) ||
        (coro[row(r, COIL__AT_STACK_SIZE_CLASS)] & row(r, COIL__STACK_IS_LIGHT)) == 0 ||
        coro[row(r, COIL__AT_STACK_STATE)] != row(r, COIL__STACK_IS_STORED))
        return;
    *from = u64(coro + row(r, COIL__AT_STACK_CELL));
    *bytes = (uint64_t)coro[row(r, COIL__AT_STACK_STORED_STEPS)] *
             row(r, COIL__STACK_STEP_BYTES);
}

/* Copy the part of a stack that is in use, and record its coroutine. The bytes from the
   stack pointer up are in the cell if the stack is swapped out. */
static bool copy_stack(struct reading *r, const unsigned char *coro, struct task *task,
                       size_t *used)
{
    struct coroutine *c = &r->coroutines[r->coroutine_count];
    uint64_t from, bytes, stored = 0;
    unsigned char *memory = r->snapshot->private->memory + *used;

    *c = (struct coroutine){.sp = u64(coro + row(r, COIL__AT_CORO_SP)),
                            .low = u64(coro + row(r, COIL__AT_STACK_LOW)),
                            .high = u64(coro + row(r, COIL__AT_STACK_HIGH))};
    if (r->loop->sp >= c->low && r->loop->sp < c->high)
        c->thread = r->loop->thread;
    r->coroutine_count++;
    if (c->sp == 0 && c->thread == 0)
        return false; /* it runs, or is about to */
    if (c->thread != 0 || c->sp < c->low || c->sp >= c->high)
        return true; /* a stack of the program's own: it is read when it is unwound */
    from = c->sp;
    bytes = c->high - c->sp;
    find_stored(r, coro, &from, &stored);
    if (stored != 0) {
        bytes = stored;
        task->is_stored = true;
        task->stored_bytes = (uint32_t)stored;
    }
    if (bytes > STACK_BYTES_MAX)
        bytes = STACK_BYTES_MAX;
    if (bytes > COPY_BYTES - *used ||
        !image_read(r->snapshot->image, from, memory, (size_t)bytes))
        return false;
    *used += (size_t)bytes;
    r->copies.pieces[r->copies.count++] = (struct piece){c->sp, memory, (size_t)bytes};
    return true;
}

static unsigned kind_of(const struct reading *r, uint64_t class)
{
    uint32_t kind = 0;

    copies_read(&r->copies, class + row(r, COIL__AT_CORO_CLASS_KIND), &kind, sizeof kind);
    return kind;
}

/* Take one step outward: see coil__coro_outer(). */
static uint64_t outer_coroutine(const struct reading *r, uint64_t coro, uint64_t *leaf)
{
    uint64_t at = row(r, COIL__AT_GEN_CORO);
    unsigned generator = row(r, COIL__CORO_IS_GENERATOR);
    uint64_t class = pointer_at(&r->copies, coro + row(r, COIL__AT_CORO_CLASS));
    uint64_t leaf_class = pointer_at(&r->copies, *leaf + row(r, COIL__AT_CORO_CLASS));

    if (has_row(r, COIL__AT_GEN_ENTRY) && kind_of(r, class) == generator &&
        kind_of(r, leaf_class) == generator) {
        uint64_t entry = pointer_at(&r->copies, *leaf - at + row(r, COIL__AT_GEN_ENTRY));
        uint64_t delegator =
            pointer_at(&r->copies, coro - at + row(r, COIL__AT_GEN_DELEGATOR));

        if (coro - at != entry && delegator != 0)
            return delegator + at;
    }
    *leaf = pointer_at(&r->copies, *leaf + row(r, COIL__AT_CORO_CALLER));
    return *leaf;
}

/* Copy the stacks of the task and of its generators, from the innermost coroutine. */
static bool copy_stacks(struct reading *r, struct task *task, uint64_t coro)
{
    uint64_t own = r->address + row(r, COIL__AT_TASK_CORO), leaf = coro;
    unsigned char bytes[CORO_BYTES];
    size_t used = 0;

    r->coroutine_count = 0;
    r->copies.count = 1; /* the control block */
    while (coro != own && coro != 0 && r->coroutine_count < COROUTINES_MAX - 1) {
        if (!image_read(r->snapshot->image, coro, bytes, sizeof bytes) ||
            !copy_stack(r, bytes, task, &used))
            return false;
        coro = outer_coroutine(r, coro, &leaf);
    }
    return coro == own &&
           copy_stack(r, r->block + row(r, COIL__AT_TASK_CORO), task, &used);
}

/* ---- a task ------------------------------------------------------------------------ */

static void read_name(const struct reading *r, struct task *task)
{
    const unsigned char *name = member(r, COIL__AT_TASK_NAME);
    unsigned kind = name[15];

    if (kind == row(r, COIL__NAME_IS_SHARED)) {
        uint64_t shared = u64(name + row(r, COIL__AT_NAME_SHARED) % 9);

        if (!image_read_text(r->snapshot->image,
                             shared + row(r, COIL__AT_NAME_SHARED_TEXT), task->name,
                             sizeof task->name))
            strcpy(task->name, "?");
    } else if (kind == row(r, COIL__NAME_IS_NUMBER)) {
        uint64_t number =
            u64(name + row(r, COIL__AT_NAME_NUMBER) % 9) & (UINT64_MAX >> 8);

        snprintf(task->name, sizeof task->name, "task-%llu", (unsigned long long)number);
    } else {
        memcpy(task->name, name, 15);
        task->name[15] = '\0';
        for (char *c = task->name; *c != '\0'; c++)
            if (*c < ' ' || *c > '~')
                *c = '?';
    }
}

static void read_members(const struct reading *r, struct task *task)
{
    task->number = u32(coro_member(r, COIL__AT_CORO_NUMBER));
    task->steps = u16(member(r, COIL__AT_TASK_STEPS));
    if (has_row(r, COIL__AT_TASK_FN))
        task->fn = u64(member(r, COIL__AT_TASK_FN));
    if (has_row(r, COIL__AT_TASK_SPAWNED_AT))
        task->spawned_at = u64(member(r, COIL__AT_TASK_SPAWNED_AT));
    if (has_row(r, COIL__AT_TASK_SPAWNED_BY))
        task->spawned_by = u32(member(r, COIL__AT_TASK_SPAWNED_BY));
    if (has_row(r, COIL__AT_TASK_CANCELLING))
        task->cancelling = u32(member(r, COIL__AT_TASK_CANCELLING));
    read_name(r, task);
}

/* Record the children of the task's groups, innermost group first. */
static void read_groups(struct reading *r)
{
    uint64_t region;
    uint16_t kind;

    if (!has_row(r, COIL__AT_TASK_REGIONS) || !has_row(r, COIL__AT_GROUP_CHILDREN))
        return;
    region = u64(member(r, COIL__AT_TASK_REGIONS));
    for (size_t i = 0; region != 0 && i < REGIONS_MAX; i++) {
        if (!copies_read(&r->copies, region + row(r, COIL__AT_REGION_KIND), &kind,
                         sizeof kind))
            return;
        if (kind == row(r, COIL__REGION_IS_GROUP))
            add_children(r, region - row(r, COIL__AT_GROUP_REGION), true);
        region = pointer_at(&r->copies, region + row(r, COIL__AT_REGION_OUTER));
    }
}

static enum task_state state_of(const struct reading *r, uint64_t wait)
{
    if (has_ended(r))
        return TASK_HAS_ENDED;
    if (!is_started(r))
        return TASK_HAS_NOT_BEGUN;
    if (r->current)
        return TASK_RUNS;
    if (wait != 0)
        return TASK_WAITS;
    return stands_still(r) ? TASK_IS_READY : TASK_HAS_STARTED_ANOTHER;
}

static uint64_t running_coroutine(const struct reading *r)
{
    uint64_t thread;

    if (!has_row(r, COIL__AT_LOOP_CORO_THREAD))
        return 0;
    thread = pointer_at(&r->copies, r->loop->address + row(r, COIL__AT_LOOP_CORO_THREAD));
    return pointer_at(&r->copies, thread + row(r, COIL__AT_CORO_THREAD_RUNNING));
}

static void begin_task(struct reading *r, struct task *task)
{
    *task = (struct task){.address = r->address,
                          .loop = (uint32_t)(r->loop - r->snapshot->loops),
                          .state = TASK_CHANGES,
                          .deadline = INT64_MAX,
                          .fd = -1,
                          .first_pending = NONE,
                          .stack = NONE};
    r->copies.count = 0;
    r->coroutine_count = 0;
}

enum attempt { ATTEMPT_FAILED, ATTEMPT_CHANGED, ATTEMPT_WORKED };

/* Copy the task's block and stacks once. */
static enum attempt copy_task(struct reading *r, struct task *task)
{
    struct image *image = r->snapshot->image;
    unsigned char again[BLOCK_MAX];
    int64_t begun = image->stands ? 0 : clock_ns();
    uint64_t current, leaf;
    bool copied = true;

    begin_task(r, task);
    if (!read_block(r, r->block, &current))
        return ATTEMPT_FAILED;
    r->copies.pieces[0] = (struct piece){r->address, r->block, row(r, COIL__TASK_BYTES)};
    r->copies.count = 1;
    r->current = current == r->address;
    leaf = u64(member(r, COIL__AT_TASK_LEAF));
    if (is_started(r) && !has_ended(r) && !r->current)
        copied = copy_stacks(r, task, leaf);
    else if (is_started(r) && r->current && r->loop->sp != 0) /* it may have just begun */
        copied = copy_stacks(r, task, running_coroutine(r)) || copy_stacks(r, task, leaf);
    if (image->stands)
        return copied ? ATTEMPT_WORKED : ATTEMPT_CHANGED;
    if (!read_block(r, again, &current) || !same_step(r, again) || !copied ||
        r->current != (current == r->address) || clock_ns() - begun > QUICK_NS)
        return ATTEMPT_CHANGED;
    return ATTEMPT_WORKED;
}

/* Read the task's data from the copies. */
static void read_facts(struct reading *r, struct task *task)
{
    uint64_t wait = incomplete_wait(r);

    task->state = state_of(r, wait);
    read_groups(r);
    if (task->state == TASK_WAITS)
        read_wait(r, task, wait);
    /* The end of another task's eager start does not count as a step. */
    if (task->state == TASK_HAS_STARTED_ANOTHER && !r->snapshot->image->stands)
        r->coroutine_count = 0;
}

/* Read the task at r->address, and add it. Returns false if it cannot be read at all. */
static bool read_task(struct reading *r)
{
    struct snapshot *s = r->snapshot;
    const struct circumstances *how = s->circumstances;
    enum attempt attempt = ATTEMPT_CHANGED;
    struct task task;

    for (int i = 0; i < TRIES && attempt == ATTEMPT_CHANGED; i++)
        attempt = copy_task(r, &task);
    if (attempt == ATTEMPT_FAILED)
        return false;
    read_members(r, &task);
    if (attempt == ATTEMPT_WORKED)
        read_facts(r, &task);
    if (attempt == ATTEMPT_WORKED && r->coroutine_count > 0 && how->on_stack != NULL)
        task.stack =
            how->on_stack(how->arg, &task, r->coroutines, r->coroutine_count, &r->copies);
    if (add_task(s, &task) == NULL)
        s->private->failed = true;
    else if (has_row(r, COIL__AT_TASK_GROUP_LINK))
        s->private->group_next[s->task_count - 1] =
            u64(member(r, COIL__AT_TASK_GROUP_LINK) + row(r, COIL__AT_LIST_NEXT) % 9);
    return true;
}

/* ---- a loop ------------------------------------------------------------------------ */

/* Walk through the list of tasks. Returns false if it changed so that the end was not
   reached. */
static bool walk_tasks(struct reading *r)
{
    struct snapshot *s = r->snapshot;
    uint64_t head = r->loop->scheduler + row(r, COIL__AT_SCHEDULER_TASKS);
    uint64_t link = pointer_at(&r->copies, head + row(r, COIL__AT_LIST_NEXT));

    while (link != head) {
        r->address = link - row(r, COIL__AT_TASK_LINK);
        if (link == 0 || r->address % 8 != 0 || s->task_count >= TASK_MAX ||
            find_task(s, r->address) != NONE || !read_task(r) || s->private->failed)
            return false;
        link = u64(member(r, COIL__AT_TASK_LINK) + row(r, COIL__AT_LIST_NEXT) % 9);
    }
    return true;
}

static bool read_loop(struct reading *r, uint64_t address)
{
    struct loop *loop = r->loop;
    const struct piece whole[] = {
        {address + row(r, COIL__AT_LOOP_PID), &loop->pid, 4},
        {address + row(r, COIL__AT_LOOP_THREAD), &loop->thread, 4},
        {address + row(r, COIL__AT_LOOP_NUMBER), &loop->number, 4},
        {address + row(r, COIL__AT_LOOP_SCHEDULER), &loop->scheduler, 8},
        {address + row(r, COIL__AT_LOOP_CLOCK_READ), &loop->now, 8},
        {address + row(r, COIL__AT_LOOP_IS_VIRTUAL), &loop->is_virtual, 1},
        {address + row(r, COIL__AT_LOOP_CALLBACK), &loop->callback, 8}};
    const struct circumstances *how = r->snapshot->circumstances;
    struct image *image = r->snapshot->image;
    struct registers registers;
    unsigned char is_virtual = 0;

    if (!r->snapshot->image->read(r->snapshot->image, whole, 5))
        return false;
    loop->address = address;
    if (has_row(r, COIL__AT_LOOP_CALLBACK))
        r->snapshot->image->read(r->snapshot->image, whole + 6, 1);
    if (has_row(r, COIL__AT_LOOP_IS_VIRTUAL) &&
        image_read(r->snapshot->image, whole[5].address, &is_virtual, 1))
        loop->is_virtual = is_virtual != 0;
    if (loop->is_virtual)
        loop->now =
            (int64_t)pointer_at(&r->copies, address + row(r, COIL__AT_LOOP_VIRTUAL_NOW));
    else if (how->monotonic != 0)
        loop->now = how->monotonic;
    if (image->stands && image->registers != NULL &&
        image->registers(image, loop->thread, &registers))
        loop->sp = registers.sp;
    return true;
}

static bool take_loop(struct snapshot *s, struct reading *r, uint64_t address)
{
    struct private *p = s->private;
    size_t first = s->task_count, links = p->link_count;
    bool is_whole = false;

    if (!grow(&s->loops, &p->loop_room, s->loop_count, sizeof *s->loops))
        return false;
    r->loop = &s->loops[s->loop_count];
    *r->loop = (struct loop){.tasks = first};
    r->copies.count = 0;
    if (!read_loop(r, address) ||
        (s->circumstances->pid != 0 && r->loop->pid != s->circumstances->pid))
        return true;
    s->loop_count++;
    for (int i = 0; i <= RESTARTS && r->loop->scheduler != 0 && !is_whole; i++) {
        if (i > 0 && !drop_tasks(s, first, links))
            return false;
        is_whole = walk_tasks(r);
        if (p->failed)
            return false;
        if (s->image->stands)
            break;
    }
    r->loop->is_partial = r->loop->scheduler != 0 && !is_whole;
    r->loop->task_count = s->task_count - first;
    return true;
}

/* ---- edges ------------------------------------------------------------------------- */

static bool add_edge(struct snapshot *s, struct task *task, uint32_t below,
                     bool is_member)
{
    struct private *p = s->private;

    if (below == NONE || s->tasks[below].state == TASK_HAS_ENDED ||
        s->edge_count == EDGES_MAX)
        return true;
    if (!grow(&s->edges, &p->edge_room, s->edge_count, sizeof *s->edges))
        return false;
    s->edges[s->edge_count++] = below | (is_member ? EDGE_IS_MEMBER : 0);
    task->edge_count++;
    return true;
}

/* Walk through a group's children by the links that were read with them. */
static bool add_group_edges(struct snapshot *s, struct task *task,
                            const struct link *link)
{
    uint16_t at = s->table->values[COIL__AT_TASK_GROUP_LINK];
    uint64_t next = link->address;

    for (size_t i = 0; i < s->task_count && next != link->end; i++) {
        uint32_t child = find_task(s, next - at);

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
    uint32_t below = find_task(s, future - s->table->values[COIL__AT_TASK_FUTURE]);

    if (below == NONE)
        return true;
    if (task->future == future && task->first_pending == NONE)
        task->first_pending = below;
    return add_edge(s, task, below, false);
}

/* The links of a task follow each other, in the order of tasks. */
static bool find_edges(struct snapshot *s)
{
    struct private *p = s->private;

    for (size_t i = 0; i < p->link_count; i++) {
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

/* ---- the whole --------------------------------------------------------------------- */

bool snapshot_take(struct image *image, const struct table *table,
                   const struct circumstances *circumstances, struct snapshot *s)
{
    struct reading *r = calloc(1, sizeof *r);
    struct private *p = calloc(1, sizeof *p);
    bool ok = r != NULL && p != NULL;

    *s = (struct snapshot){.image = image,
                           .table = table,
                           .circumstances = circumstances,
                           .inherited = table->inherited,
                           .private = p};
    if (ok)
        *r = (struct reading){.snapshot = s, .table = table, .copies = {.image = image}};
    if (ok)
        p->memory = malloc(COPY_BYTES);
    ok = ok && p->memory != NULL && index_tasks(s);
    for (uint32_t i = 0; ok && i < table->loop_count; i++) {
        uint64_t address = 0;

        if (image_read(image, table->loops + i * sizeof address, &address,
                       sizeof address) &&
            address != 0)
            ok = take_loop(s, r, address);
    }
    ok = ok && find_edges(s);
    free(r);
    return ok;
}

void snapshot_free(struct snapshot *s)
{
    struct private *p = s->private;

    free(s->loops);
    free(s->tasks);
    free(s->edges);
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->text_count; i++)
        free(p->texts[i]);
    free(p->texts);
    free(p->classes);
    free(p->links);
    free(p->group_next);
    free(p->index);
    free(p->memory);
    free(p);
}
