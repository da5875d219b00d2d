/*
 * stack.h (internal) - the stacks of coroutines: slots cut from large mappings.
 */
#ifndef COIL_CORO_STACK_H
#define COIL_CORO_STACK_H

#include "../base/base.h"

#include <sys/uio.h>

/*
 * A slot:
 *
 *              low                                      high
 *      | guard | stack, grows down  <---------- | control block | colour | canary |
 *
 * A light slot, whose control block is in an array behind the slab's slots (light.h):
 *
 *              low                                      high
 *      | guard | stack, grows down  <------------------- | colour |
 */
struct coil__stack {
    char *low;  /* lowest usable byte, above the guard */
    char *high; /* one past the highest usable byte; 16-aligned */
    /*
     * If the stack pointer is below this limit when the coroutine is suspended,
     * coil__stack_check() is called. The limit is usually `low`; the highest possible
     * address if the check must always be made; or NULL for the thread's own stack, which
     * is not checked.
     */
    const char *limit;
    uint8_t size_class; /* log2 of the size, and the flag COIL__STACK_LIGHT */
    union {
        uint8_t block_lines;  /* length of the control block, in units of 64 bytes */
        uint8_t stored_steps; /* light: bytes in the cell, in units of COIL__STORE_STEP */
    };
    uint8_t state;     /* light: enum coil__light_state */
    bool dirty : 1;    /* pages below the page of `high` have been written */
    bool trimmed : 1;  /* the coroutine has ended and coil__stack_trim() has run */
    bool measured : 1; /* the slot was clean when it was taken: see coil__stack_peak() */
    bool exact : 1;    /* trimmed: `dirty` and `peak` were measured */
    union {
        unsigned valgrind_id;
        uint32_t light_peak; /* light: the peak measured when pages were discarded */
    };
    union {
        struct coil__slab *slab; /* the slab that contains the slot */
        struct coil__light_slab *light_slab;
    };
    union {
        struct coil__stack *next; /* the next free slot, if this slot is free */
        uint32_t peak;            /* the largest peak measured so far; 0: none */
        void *cell;               /* light: the bytes that are swapped out */
    };
};

#define COIL__STACK_BLOCK_BYTES ((size_t)448) /* default size of a block */

/*
 * COIL__STACK_LIGHT is set in size_class if the stack is light. The control block of a
 * light stack has at most COIL__LIGHT_BLOCK_BYTES.
 */
#define COIL__STACK_LIGHT 32
#define COIL__LIGHT_BLOCK_BYTES 448

/* The ways to detect overflows, best first; see stack.c. */
enum coil__guard {
    COIL__GUARD_MADVISE,  /* MADV_GUARD_INSTALL */
    COIL__GUARD_MPROTECT, /* PROT_NONE, for a limited number of stacks */
    COIL__GUARD_CHECK     /* no guard: coil__stack_check() at each switch */
};

/*
 * The first kind to try for new slots. Once a slot was taken, this is the best kind that
 * the kernel supports. Tests set this variable.
 */
extern enum coil__guard coil__stack_guard;

/* Return the requested size, rounded up to a power of two. The guard is not included. */
static inline size_t coil__stack_bytes(const struct coil__stack *stack)
{
    return (size_t)1 << (stack->size_class & (COIL__STACK_LIGHT - 1));
}

/* True unless this is the thread's own stack. */
static inline bool coil__stack_in_slot(const struct coil__stack *stack)
{
    return stack->limit != NULL;
}

static inline bool coil__stack_is_light(const struct coil__stack *stack)
{
    return COIL__UNLIKELY((stack->size_class & COIL__STACK_LIGHT) != 0);
}

/*
 * True if a guard detects overflows. Otherwise coil__stack_check() must detect overflows.
 */
static inline bool coil__stack_guarded(const struct coil__stack *stack)
{
    return stack->limit == stack->low;
}

/* Return the first byte of the slot, where the guard begins. */
char *coil__stack_slot(const struct coil__stack *stack);

/*
 * Check a stack whose stack pointer is `sp`. Returns false if the stack has overflowed.
 */
bool coil__stack_check(const struct coil__stack *stack, const void *sp);

/*
 * Return how many bytes below `high` were written since the slot was taken, in whole
 * pages. Also works after the coroutine has ended. Fails with -EAGAIN if the peak is
 * unknown: an earlier coroutine used the same pages, or this coroutine ended before the
 * first call. From the first call on, the calling thread clears each slot that it takes,
 * and measures each slot that it trims.
 */
ssize_t coil__stack_peak(const struct coil__stack *stack);

/*
 * Find the pages below `sp`, the stack pointer of a suspended coroutine, that the
 * coroutine has written. The contents of these pages (*unused) are no longer needed, so
 * the caller may discard them. Records the peak first. Returns false if there are no such
 * pages, or if `sp` is not on the stack.
 */
bool coil__stack_unused(struct coil__stack *stack, const char *sp, struct iovec *unused);

/*
 * Take a slot of at least stack_bytes (0: COIL_STACK_BYTES) with a 64-aligned control
 * block of control_bytes. If `light` is true the stack is light, and its block is not on
 * the stack. The block begins with the struct coil__stack. The rest has the contents that
 * its last user left, or zeros. A slot belongs to the calling thread and must be released
 * there. Fails with -ENOMEM or -EINVAL.
 */
int coil__stack_acquire(size_t stack_bytes, size_t control_bytes, bool light,
                        struct coil__stack **out);

/* A mapping of many slots: stack.c. */
struct coil__slab {
    struct coil__stack *free; /* linked by `next`, the last freed slot first */
    unsigned used_count;
    unsigned dirty_count;
    bool kept;              /* the pool's spare slab, which is not unmapped */
    struct coil__list link; /* pool.open or pool.full */
    struct coil__stack_pool *pool;
    char *base;
    size_t bytes;
    size_t guard_bytes; /* of each slot */
    unsigned slot_count;
    unsigned fresh; /* index of the first slot that was never used */
    unsigned mprotect_count;
};

/*
 * The slab for the inline fast path: slots of the usual size are taken from it and
 * returned to it without a function call. If no slab has a free slot, or if the thread
 * measures peaks or runs under a sanitizer, this slab's list is empty, so the slower
 * functions are used.
 */
extern COIL__THREAD_LOCAL struct coil__slab *coil__stack_slab;

void coil__stack_took_dirty(const struct coil__stack *stack);
void coil__stack_slab_is_empty(struct coil__slab *slab);

/* Take a free slot. Returns NULL if the slab is full. */
static inline struct coil__stack *coil__stack_pop(struct coil__slab *slab)
{
    struct coil__stack *stack = slab->free;

    if (COIL__UNLIKELY(stack == NULL))
        return NULL;
    slab->free = stack->next;
    slab->used_count++;
    if (COIL__UNLIKELY(stack->dirty))
        coil__stack_took_dirty(stack);
    return stack;
}

static inline void coil__stack_push(struct coil__stack *stack)
{
    struct coil__slab *slab = stack->slab;

    stack->next = slab->free;
    slab->free = stack;
    if (COIL__UNLIKELY(--slab->used_count == 0 && !slab->kept))
        coil__stack_slab_is_empty(slab);
}

/* Initialize the bookkeeping data of a slot that was taken from the free list. */
static inline void coil__stack_begin(struct coil__stack *stack, char *high)
{
    stack->high = high;
    stack->trimmed = false;
    stack->measured = !stack->dirty;
    stack->exact = false;
    stack->peak = 0;
}

/*
 * A fast coil__stack_acquire() for a stack of the usual size with a control block of at
 * most COIL__STACK_BLOCK_BYTES on top of it. If this function returns NULL, call
 * coil__stack_acquire().
 */
static inline struct coil__stack *coil__stack_acquire_usual(void)
{
    struct coil__stack *stack = coil__stack_pop(coil__stack_slab);

    if (COIL__LIKELY(stack != NULL))
        coil__stack_begin(stack, (char *)stack);
    return stack;
}

/*
 * A fast coil__stack_release() for a trimmed stack. If this function returns false, call
 * coil__stack_release().
 */
static inline bool coil__stack_release_usual(struct coil__stack *stack)
{
    if (COIL__UNLIKELY(stack->slab != coil__stack_slab || stack->dirty))
        return false;
    coil__stack_push(stack);
    return true;
}

/*
 * Called when the coroutine has ended: return its stack pages to the kernel if necessary.
 */
void coil__stack_trim(struct coil__stack *stack);

/*
 * Switch debug mode on or off. In debug mode more of the calling thread's slots have wide
 * guards.
 */
void coil__stack_set_debug(bool on);

/* Release the slot and its control block. */
void coil__stack_release(struct coil__stack *stack);

/* Return the number of the calling thread's slots in use. For leak checks. */
size_t coil__stack_count(void);

/*
 * Return memory to the kernel if no slot is in use. Pools that have only their first slab
 * stay mapped for the thread's next loop. Called when a loop closes.
 */
void coil__stack_shrink(void);

/* Unmap the calling thread's pools if no slot is in use. Called when the thread ends. */
void coil__stack_drain(void);

#endif
