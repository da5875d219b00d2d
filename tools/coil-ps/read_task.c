/*
 * read_task.c - copies a task until the copy is consistent: docs/design/ps.md.
 *
 * The control block, the stacks, and the control block again are copied. The copy is
 * accepted if both control blocks are of the same step, and copying took at most QUICK_NS.
 */
#include "reading.h"

#include <errno.h>
#include <stdio.h>

#define REGIONS_MAX 64
#define TRIES 4
#define QUICK_NS 200000 /* so that 16 bits of `steps` suffice: docs/design/ps.md */

/* ---- the control block ------------------------------------------------------------- */

static bool is_linked(const struct reading *r)
{
    uint64_t self = r->address + row(r, COIL__AT_TASK_STEP_LINK);
    uint64_t next =
        u64(member(r, COIL__AT_TASK_STEP_LINK) + row(r, COIL__AT_LIST_NEXT) % 9);

    return next != 0 && next != self;
}

/*
 * Return true if the task waits or is in the ready queue, so its stack does not change.
 */
static bool is_suspended(const struct reading *r)
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

/* Return true if all members that change in each step are equal in both copies. */
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

    return image_read_pieces(r->snapshot->image, pieces, 2);
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
    for (size_t i = 0; region != 0 && i < REGIONS_MAX && spend(r, 1); i++) {
        if (!copies_read(&r->copies, region + row(r, COIL__AT_REGION_KIND), &kind,
                         sizeof kind))
            return;
        if (kind == row(r, COIL__REGION_IS_GROUP))
            edges_add_children(r, region - row(r, COIL__AT_GROUP_REGION), true);
        region = copies_pointer(&r->copies, region + row(r, COIL__AT_REGION_OUTER));
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
    return is_suspended(r) ? TASK_IS_READY : TASK_HAS_STARTED_ANOTHER;
}

static uint64_t running_coroutine(const struct reading *r)
{
    uint64_t thread;

    if (!has_row(r, COIL__AT_LOOP_CORO_THREAD))
        return 0;
    thread =
        copies_pointer(&r->copies, r->loop->address + row(r, COIL__AT_LOOP_CORO_THREAD));
    return copies_pointer(&r->copies, thread + row(r, COIL__AT_CORO_THREAD_RUNNING));
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
    r->copies.registers = &r->loop->registers;
    r->coroutine_count = 0;
    r->unreadable = false;
}

enum attempt { ATTEMPT_FAILED, ATTEMPT_CHANGED, ATTEMPT_WORKED };

/*
 * Try to copy the task's control block and stacks. ATTEMPT_CHANGED means that the task
 * may have run in the meantime.
 */
static enum attempt copy_task(struct reading *r, struct task *task)
{
    struct image *image = r->snapshot->image;
    unsigned char again[BLOCK_MAX];
    int64_t begun = image->is_constant ? 0 : read_clock_ns();
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
        copied = stacks_copy(r, task, leaf);
    else if (is_started(r) && r->current &&
             r->loop->registers.sp != 0) /* the first call fails for a new task */
        copied = stacks_copy(r, task, running_coroutine(r)) || stacks_copy(r, task, leaf);
    if (image->is_constant)
        return copied ? ATTEMPT_WORKED : ATTEMPT_CHANGED;
    if (!read_block(r, again, &current) || !same_step(r, again) || !copied ||
        r->current != (current == r->address) || read_clock_ns() - begun > QUICK_NS)
        return ATTEMPT_CHANGED;
    return ATTEMPT_WORKED;
}

/* Read the task's state, groups and wait from the copies. */
static void read_facts(struct reading *r, struct task *task)
{
    uint64_t wait = wait_incomplete(r);

    task->state = state_of(r, wait);
    read_groups(r);
    if (task->state == TASK_WAITS)
        wait_read(r, task, wait);
    /*
     * Ignore the stack, which may have changed during copying: this task continues in the
     * same step when the task that it has started gives control back.
     */
    if (task->state == TASK_HAS_STARTED_ANOTHER && !r->snapshot->image->is_constant)
        r->coroutine_count = 0;
}

/*
 * Read the task at r->address, and add it to the snapshot. Returns false if the task's
 * control block is unreadable.
 */
bool task_read(struct reading *r)
{
    struct snapshot *s = r->snapshot;
    const struct snapshot_options *how = s->options;
    enum attempt attempt = ATTEMPT_CHANGED;
    struct task task;

    for (int i = 0; i < TRIES && attempt == ATTEMPT_CHANGED; i++) {
        attempt = copy_task(r, &task);
        if (s->image->is_constant)
            break;
    }
    if (attempt == ATTEMPT_FAILED)
        return false;
    read_members(r, &task);
    if (attempt == ATTEMPT_WORKED)
        read_facts(r, &task);
    else if (s->image->is_constant && r->unreadable)
        task.state = TASK_IS_INCOMPLETE;
    if (attempt == ATTEMPT_WORKED && r->coroutine_count > 0 && how->unwinds_later)
        stacks_keep(r, (uint32_t)s->task_count);
    else if (attempt == ATTEMPT_WORKED && r->coroutine_count > 0 &&
             how->on_stack != NULL && spend(r, STACK_STEPS))
        task.stack = how->on_stack(how->on_stack_arg, &task, r->coroutines,
                                   r->coroutine_count, &r->copies);
    if (tasks_add(s, &task) == NULL)
        s->private->failed = true;
    else if (has_row(r, COIL__AT_TASK_GROUP_LINK))
        s->private->group_next[s->task_count - 1] =
            u64(member(r, COIL__AT_TASK_GROUP_LINK) + row(r, COIL__AT_LIST_NEXT) % 9);
    return true;
}
