/*
 * copy_stacks.c - copies a task's own stack and the stacks of its generators.
 */
#include "reading.h"

#define OWN_STACK_BYTES_MAX ((size_t)64 << 10)
#define PAGE ((size_t)4096)
/* The red zone: a leaf function may use this many bytes below the stack pointer. */
#define RED_ZONE_BYTES 128

/*
 * If a light task's stack is swapped out, set *from to the address of its bytes, and
 * *bytes to their number.
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
 * Copy the part of a stack that begins at `address`. If the stack is swapped out, `from`
 * is the address at which the part is stored. Returns false if the part is too long or
 * unreadable.
 */
static bool copy_part(struct reading *r, uint64_t address, uint64_t from, size_t bytes,
                      size_t *used)
{
    struct image *image = r->snapshot->image;
    void *memory = image_borrow(image, from, bytes);

    if (memory == NULL) {
        memory = r->snapshot->private->memory + *used;
        if (bytes > COPY_BYTES - *used || !image_read(image, from, memory, bytes))
            return false;
        *used += bytes;
    }
    r->copies.pieces[r->copies.count++] = (struct piece){address, memory, bytes};
    return true;
}

/*
 * Copy a stack that was allocated by the program, not by coil. The end of the stack is
 * unknown, so try smaller and smaller sizes until one is readable.
 */
static bool copy_own_stack(struct reading *r, uint64_t sp, size_t *used)
{
    for (size_t bytes = OWN_STACK_BYTES_MAX; bytes >= PAGE; bytes /= 2) {
        size_t part = bytes - (size_t)(sp % PAGE);

        if (copy_part(r, sp, sp, part, used))
            return true;
    }
    return false;
}

/*
 * Copy the used part of a coroutine's stack, and record the coroutine. Returns false if
 * the stack cannot be copied.
 */
static bool copy_stack(struct reading *r, const unsigned char *coro, struct task *task,
                       size_t *used)
{
    struct coroutine *c = &r->coroutines[r->coroutine_count];
    uint64_t from, bytes, stored = 0, sp = r->loop->registers.sp;

    *c = (struct coroutine){.sp = u64(coro + row(r, COIL__AT_CORO_SP)),
                            .low = u64(coro + row(r, COIL__AT_STACK_LOW)),
                            .high = u64(coro + row(r, COIL__AT_STACK_HIGH))};
    c->runs = sp != 0 && sp >= c->low && sp < c->high;
    if (!c->runs)
        sp = c->sp;
    else
        sp -= sp - c->low < RED_ZONE_BYTES ? sp - c->low : RED_ZONE_BYTES;
    r->coroutine_count++;
    if (sp == 0)
        return false; /* the coroutine is running, or about to run */
    if (sp < c->low || sp >= c->high) {
        r->unreadable = !copy_own_stack(r, sp, used);
        return !r->unreadable;
    }
    from = sp;
    bytes = c->high - sp;
    if (!c->runs)
        find_stored(r, coro, &from, &stored);
    if (stored != 0) {
        bytes = stored;
        task->is_stored = true;
        task->stored_bytes = (uint32_t)stored;
    }
    if (bytes > STACK_BYTES_MAX)
        bytes = STACK_BYTES_MAX;
    r->unreadable = !copy_part(r, sp, from, (size_t)bytes, used);
    return !r->unreadable;
}

static unsigned kind_of(const struct reading *r, uint64_t class)
{
    uint32_t kind = 0;

    copies_read(&r->copies, class + row(r, COIL__AT_CORO_CLASS_KIND), &kind, sizeof kind);
    return kind;
}

/* Return the coroutine that resumed this coroutine: see coil__coro_outer(). */
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
