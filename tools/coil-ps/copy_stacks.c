/*
 * copy_stacks.c - copies a task's own stack and the stacks of its generators.
 */
#include "reading.h"

/*
 * If the stack belongs to a light task and is swapped out, find its bytes, which are
 * stored in a cell.
 */
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

/*
 * Copy the part of a stack that is in use, and record its coroutine. If the stack is
 * swapped out, the bytes from the stack pointer up are read from the cell.
 */
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
        return false; /* the coroutine is running, or is about to run */
    if (c->thread != 0 || c->sp < c->low || c->sp >= c->high)
        return true; /* a stack of the program's own, which is read when it is unwound */
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
        !image_read(r->snapshot->image, from, memory, (size_t)bytes)) {
        r->unreadable = true;
        return false;
    }
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

/* Move to the coroutine that resumed this coroutine: see coil__coro_outer(). */
static uint64_t outer_coroutine(const struct reading *r, uint64_t coro, uint64_t *leaf)
{
    uint64_t at = row(r, COIL__AT_GEN_CORO);
    unsigned generator = row(r, COIL__CORO_IS_GENERATOR);
    uint64_t class = copies_pointer(&r->copies, coro + row(r, COIL__AT_CORO_CLASS));
    uint64_t leaf_class = copies_pointer(&r->copies, *leaf + row(r, COIL__AT_CORO_CLASS));

    if (has_row(r, COIL__AT_GEN_ENTRY) && kind_of(r, class) == generator &&
        kind_of(r, leaf_class) == generator) {
        uint64_t entry =
            copies_pointer(&r->copies, *leaf - at + row(r, COIL__AT_GEN_ENTRY));
        uint64_t delegator =
            copies_pointer(&r->copies, coro - at + row(r, COIL__AT_GEN_DELEGATOR));

        if (coro - at != entry && delegator != 0)
            return delegator + at;
    }
    *leaf = copies_pointer(&r->copies, *leaf + row(r, COIL__AT_CORO_CALLER));
    return *leaf;
}

/* Copy the stacks of the task and of its generators, the innermost coroutine first. */
bool stacks_copy(struct reading *r, struct task *task, uint64_t coro)
{
    uint64_t own = r->address + row(r, COIL__AT_TASK_CORO), leaf = coro;
    unsigned char bytes[CORO_BYTES];
    size_t used = 0;

    r->coroutine_count = 0;
    r->copies.count = 1; /* the control block */
    while (coro != own && coro != 0 && r->coroutine_count < COROUTINES_MAX - 1) {
        r->unreadable = !image_read(r->snapshot->image, coro, bytes, sizeof bytes);
        if (r->unreadable || !copy_stack(r, bytes, task, &used))
            return false;
        coro = outer_coroutine(r, coro, &leaf);
    }
    return coro == own &&
           copy_stack(r, r->block + row(r, COIL__AT_TASK_CORO), task, &used);
}
