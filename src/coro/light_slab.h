/*
 * light_slab.h (internal) - the slabs of light stacks, and a thread's state for them.
 *
 *     | page | slot 0 | ... | slot n-1 | record 0 | ... | record n-1 | flags | struct coil__light_slab |
 *     each slot:   | guard | stack ... | colour |
 *     each record: | control block |
 *
 * Record i always describes slot i, so the addresses in a free record stay correct. A
 * slot has no page until it is written to.
 *
 * light.c acquires and releases slots. light_swap.c swaps stacks out and in.
 * light_clock.c limits the number of resident stacks. light_table.c finds the slab of an
 * address.
 *
 * The guard of a light stack is shorter than an ordinary guard. Even one page is enough
 * for code compiled with -fstack-clash-protection.
 */
#ifndef COIL_CORO_LIGHT_SLAB_H
#define COIL_CORO_LIGHT_SLAB_H

#include "light.h"
#include "slots.h"
#include "store.h"

#include <sys/uio.h>

#define COIL__LIGHT_BATCH 512 /* maximum number of stacks per system call */
#define COIL__LIGHT_SAMPLE 8

struct coil__light_record {
    _Alignas(64) char block[COIL__LIGHT_BLOCK_BYTES]; /* begins with struct coil__stack */
};

_Static_assert(sizeof(struct coil__light_record) == 448, "seven lines of the cache");

struct coil__light_slab {
    struct coil__list link;     /* pool.open or pool.full */
    struct coil__list all_link; /* light.slabs */
    char *base;
    size_t bytes, slot_bytes;
    char *slots;
    struct coil__light_record *records;
    unsigned char *flags; /* one enum coil__light_flag per slot */
    struct coil__stack *free;
    struct coil__light_entry *entry;
    unsigned slot_count;
    unsigned fresh; /* index of the first slot that was never used */
    unsigned used_count;
};

struct coil__light_pool {
    struct coil__list open, full;
    struct coil__light_slab *empty; /* a spare slab without used slots, or NULL */
    size_t next_slot_count;
};

enum coil__light_flag {
    COIL__LIGHT_NO_PAGE,
    COIL__LIGHT_PAGE, /* the top page has memory, and is counted */
    COIL__LIGHT_CAME  /* swapped in by the handler of SIGSEGV; not yet counted */
};

/* The state of light stacks of one thread. */
struct coil__light {
    struct coil__store store;
    struct coil__list slabs;
    struct coil__light_pool pools[COIL__CLASS_COUNT];
    size_t used_count, stored_count, resident_count, dirty_count;
    size_t cap;        /* maximum number of resident pages */
    size_t next_check; /* the cap is checked when this many pages are resident */
    size_t depth;      /* estimated number of pages per resident stack */
    struct coil__stack *latest[COIL__LIGHT_SAMPLE]; /* the stacks touched last, or NULL */
    unsigned latest_next;
    int64_t age_ns, aged_at;
    volatile bool some_came; /* a slot has the flag COIL__LIGHT_CAME */
    bool refused;            /* the kernel has refused a guard: stop swapping out */
    struct coil__light_slab *hand;
    unsigned hand_slot;
    struct coil__stack *going[COIL__LIGHT_BATCH];
    size_t going_count;
    struct iovec pages[COIL__LIGHT_BATCH], below[COIL__LIGHT_BATCH];
};

struct coil__light_entry {
    struct coil__light_slab *_Atomic slab; /* NULL: the entry is unused */
    const void *owner;                     /* the thread's coil__coro_thread */
    char *low, *high;                      /* of the slots */
};

extern COIL__THREAD_LOCAL struct coil__light *coil__light;
extern size_t coil__light_page_bytes, coil__light_guard_bytes;

static inline struct coil__stack *coil__light_stack_of(struct coil__light_record *record)
{
    return (struct coil__stack *)(void *)record->block;
}

static inline size_t coil__light_number_of(const struct coil__stack *stack)
{
    return (size_t)((const struct coil__light_record *)(const void *)stack -
                    stack->light_slab->records);
}

static inline char *coil__light_page_of(const char *p)
{
    return (char *)((uintptr_t)p & ~(uintptr_t)(coil__light_page_bytes - 1));
}

static inline char *coil__light_top_page(const struct coil__stack *stack)
{
    return stack->low + coil__stack_bytes(stack) - coil__light_page_bytes;
}

/*
 * True if this code is running on a stack in this memory, as it is when a task that has
 * ended frees its own slot.
 */
static inline bool coil__light_is_below(const char *low, size_t bytes)
{
    return (uintptr_t)coil__stack_pointer() - (uintptr_t)low < bytes;
}

/* ---- light_table.c ----------------------------------------------------------------- */

/* Add the slab to the process's table of slabs. Returns false if memory runs out. */
bool coil__light_publish(struct coil__light_slab *slab);

/* Return the entry of the slab that contains the address, or NULL. Async-signal-safe. */
struct coil__light_entry *coil__light_find(const char *address);

/* ---- light_swap.c ------------------------------------------------------------------ */

/* Record whether the stack's top page has memory. */
void coil__light_set_resident(struct coil__stack *stack, bool is);

/*
 * Copy the live bytes to a cell, and set the stack's state. Must be called before the
 * page becomes a guard, because the handler of SIGSEGV reads the state. Returns false if
 * there are too many bytes, or no memory.
 */
bool coil__light_store_bytes(struct coil__stack *stack, const char *sp);

/*
 * Free the pages of the first n stacks in coil__light->going, whose live bytes were
 * stored.
 */
void coil__light_free_pages(size_t n);

/* Count a stack that the handler of SIGSEGV has swapped in. */
void coil__light_settle(struct coil__stack *stack);

/*
 * Drop the stored bytes and the guard of a stack whose task ended while it was swapped
 * out.
 */
void coil__light_drop_stored(struct coil__stack *stack);

/* ---- light_clock.c ----------------------------------------------------------------- */

void coil__light_make_room_now(size_t n);

/* If too many pages would be resident after touching n more, swap out other stacks. */
static inline void coil__light_make_room(size_t n)
{
    if (COIL__UNLIKELY(coil__light->resident_count + n > coil__light->next_check))
        coil__light_make_room_now(n);
}

#endif
