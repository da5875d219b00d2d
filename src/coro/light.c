/*
 * light.c - stacks that are put away while their coroutine waits.
 *
 *     | page | slot 0 | ... | slot n-1 | record 0 | ... | record n-1 | flags | struct coil__light_slab |
 *     each slot:   | guard | stack ... | colour |
 *     each record: | control block |
 *
 * Slot and record of one number belong together for ever: in a free record the addresses
 * of the stack are still true. A slot has no page before something is written to it.
 *
 * A stack is put away by copying its live bytes, from the stack pointer to the top, to a
 * cell (store.c); then its top page becomes a guard (coil__memory_guard()), which frees
 * the page, and the pages below it are discarded. It is brought back by the opposite, at
 * the same addresses, so every pointer into it is still true. At most 1 KiB is stored, so
 * all of it is in the top page, the colour included.
 *
 * Batches. One system call serves up to BATCH stacks that are put away, and up to 32 that
 * come back. That costs a quarter less than single calls.
 *
 * The cap. `resident` counts the top pages that have memory, of stacks in use and of free
 * ones; slab.flags has one byte each. Whoever is about to touch one more looks at the
 * count first, and if it is at the cap, the hand of a clock goes round the flags and puts
 * away a batch. If the hand finds too few, because most run, are ready, or are pinned,
 * the limit is raised by an eighth, so that looking stays cheap; the next idle turn lowers
 * it again. Nobody knows what pages lie below the top ones, of tasks that were deep: so
 * each 512 pages a few of the stacks touched last are measured by mincore(2), and the cap
 * is divided by that.
 *
 * Strays. An access to a stack that is put away faults. The handler of SIGSEGV looks the
 * address up in a table of the whole process, which only grows: an entry is published by
 * its slab's address, withdrawn by NULL, and used again. So a handler may read the table
 * at any time. It brings the stack back, and leaves the cell to be freed later, since it
 * may have interrupted the store.
 *
 * The guard below a slot is shorter than an ordinary one: code that is compiled with
 * -fstack-clash-protection needs one page.
 */
#include "light.h"

#include "../base/fault.h"
#include "../base/line.h"
#include "../kernel/memory.h"
#include "../kernel/thread.h"
#include "coroutine.h"
#include "sanitizer.h"
#include "slots.h"
#include "store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define BATCH 512
#define SAMPLE 8
#define DIRTY_MAX 64

#ifdef __aarch64__
#define GUARD_BYTES ((size_t)68 * 1024)
#else
#define GUARD_BYTES ((size_t)12 * 1024)
#endif

struct record {
    _Alignas(64) char block[COIL__STACK_APART_BYTES]; /* begins with the stack's books */
};

_Static_assert(sizeof(struct record) == 448, "seven lines of the cache");

struct coil__light_slab {
    struct coil__list link;     /* pool.open or pool.full */
    struct coil__list all_link; /* light.slabs */
    char *base;
    size_t bytes, slot_bytes;
    char *slots;
    struct record *records;
    unsigned char *flags; /* enum flag, of each slot */
    struct coil__stack *free;
    struct entry *entry;
    unsigned slot_count;
    unsigned fresh; /* slots from this one on were never used */
    unsigned used_count;
};

struct pool {
    struct coil__list open, full;
    struct coil__light_slab
        *empty; /* the one slab that is kept without a used slot, or NULL */
    size_t next_slot_count;
};

enum flag {
    NO_PAGE,
    PAGE, /* the top page has memory, and is counted */
    CAME  /* the handler of SIGSEGV has brought it back; not yet counted */
};

/* Of one thread. */
struct light {
    struct coil__store store;
    struct coil__list slabs;
    struct pool pools[COIL__CLASS_COUNT];
    size_t used_count, stored_count, resident_count, dirty_count;
    size_t cap;     /* of pages */
    size_t look_at; /* the count at which the depth and the cap are looked at next */
    size_t depth;   /* how many pages a resident stack has, by a sample */
    struct coil__stack *latest[SAMPLE]; /* those that were touched last; or NULL */
    unsigned latest_next;
    int64_t age_ns, aged_at;
    volatile bool some_came; /* a flag is CAME */
    bool refused; /* the kernel has refused a guard: nothing is put away any more */
    struct coil__light_slab *hand;
    unsigned hand_slot;
    struct coil__stack *going[BATCH];
    size_t going_count;
    struct iovec pages[BATCH], below[BATCH];
};

const struct coil__light_owner *coil__light_owner;

static COIL__THREAD_LOCAL struct light *light;
static COIL__THREAD_LOCAL struct {
    size_t cap;
    int64_t age_ns;
} limits;

static size_t page_bytes, guard_bytes;

static struct coil__stack *stack_of(struct record *record)
{
    return (struct coil__stack *)(void *)record->block;
}

static size_t number_of(const struct coil__stack *stack)
{
    return (size_t)((const struct record *)(const void *)stack -
                    stack->light_slab->records);
}

/* ---- the table of all threads' slabs ----------------------------------------------- */

struct entry {
    struct coil__light_slab *_Atomic slab; /* NULL: not in use */
    const void *owner;                     /* the thread's coil__coro_thread */
    char *low, *high;                      /* of the slots */
};

#define ENTRY_COUNT 126

struct entries {
    struct entry entries[ENTRY_COUNT];
    struct entries *_Atomic next;
};

static struct entries first_entries;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

static struct entry *find_unused(struct entries *entries)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (atomic_load_explicit(&entries->entries[i].slab, memory_order_relaxed) == NULL)
            return &entries->entries[i];
    return NULL;
}

/* Find an unused entry, in more memory if need be; with the lock held. */
static struct entry *make_entry(void)
{
    struct entries *entries = &first_entries, *next;
    struct entry *entry;

    while ((entry = find_unused(entries)) == NULL) {
        next = atomic_load_explicit(&entries->next, memory_order_relaxed);
        if (next == NULL) {
            next = coil__memory_map((sizeof *next + page_bytes - 1) & ~(page_bytes - 1));
            if (next == NULL)
                return NULL;
            atomic_store_explicit(&entries->next, next, memory_order_release);
        }
        entries = next;
    }
    return entry;
}

static bool publish_slab(struct coil__light_slab *slab)
{
    struct entry *entry;

    pthread_mutex_lock(&entries_lock);
    entry = make_entry();
    if (entry != NULL) {
        entry->owner = &coil__coro_thread;
        entry->low = slab->slots;
        entry->high = slab->slots + slab->slot_count * slab->slot_bytes;
        atomic_store_explicit(&entry->slab, slab, memory_order_release);
    }
    pthread_mutex_unlock(&entries_lock);
    slab->entry = entry;
    return entry != NULL;
}

static struct entry *find_entry(const char *address)
{
    for (struct entries *e = &first_entries; e != NULL;
         e = atomic_load_explicit(&e->next, memory_order_acquire))
        for (size_t i = 0; i < ENTRY_COUNT; i++)
            if (atomic_load_explicit(&e->entries[i].slab, memory_order_acquire) != NULL &&
                address >= e->entries[i].low && address < e->entries[i].high)
                return &e->entries[i];
    return NULL;
}

/* ---- slabs ------------------------------------------------------------------------- */

static struct light *create_light(void)
{
    struct light *created;

    if (coil__stack_set_up() < 0)
        return NULL;
    page_bytes = coil__slot_page_bytes;
    guard_bytes = GUARD_BYTES / page_bytes * page_bytes;
    created = coil__memory_map(sizeof *created);
    if (created == NULL)
        return NULL;
    coil__store_init(&created->store);
    coil__list_init(&created->slabs);
    for (size_t i = 0; i < COIL__CLASS_COUNT; i++) {
        coil__list_init(&created->pools[i].open);
        coil__list_init(&created->pools[i].full);
        created->pools[i].next_slot_count = COIL__SLOTS_MIN;
    }
    light = created;
    coil__light_limit(limits.cap * page_bytes, limits.age_ns);
    return created;
}

static size_t round_up(size_t bytes)
{
    return (bytes + page_bytes - 1) & ~(page_bytes - 1);
}

static void lay_slab_out(struct coil__light_slab *slab, char *base, size_t bytes,
                         size_t slot_count, size_t slot_bytes)
{
    slab->base = base;
    slab->bytes = bytes;
    slab->slot_bytes = slot_bytes;
    slab->slot_count = (unsigned)slot_count;
    slab->slots = base + page_bytes;
    slab->records = (struct record *)(void *)(slab->slots + slot_count * slot_bytes);
    slab->flags = (unsigned char *)(slab + 1);
}

/* Behind the slots: the records; and struct coil__light_slab with its flags. */
static size_t tail_bytes(size_t slot_count)
{
    return round_up(slot_count * sizeof(struct record)) +
           round_up(sizeof(struct coil__light_slab) + slot_count);
}

static void destroy_slab(struct pool *pool, struct coil__light_slab *slab)
{
    if (light->hand == slab)
        light->hand = NULL;
    memset(light->latest, 0, sizeof light->latest);
    if (pool->empty == slab)
        pool->empty = NULL;
    for (unsigned i = 0; i < slab->fresh; i++) {
        light->dirty_count -= stack_of(&slab->records[i])->dirty;
        light->resident_count -= slab->flags[i] == PAGE;
    }
    if (slab->entry != NULL)
        atomic_store_explicit(&slab->entry->slab, NULL, memory_order_release);
    coil__list_remove(&slab->link);
    coil__list_remove(&slab->all_link);
    coil__asan_unpoison(slab->base, slab->bytes);
    munmap(slab->base, slab->bytes);
}

/* Halves the number of slots until mmap(2) succeeds: address space may be limited. */
static char *map_slab(const struct pool *pool, size_t slot_bytes, size_t *slot_count,
                      size_t *bytes)
{
    size_t count = pool->next_slot_count;
    char *base = NULL;

    while (count > 1 && count * slot_bytes > COIL__SLAB_BYTES_MAX)
        count /= 2;
    for (; count > 0 && base == NULL; count /= 2) {
        *slot_count = count;
        *bytes = page_bytes + count * slot_bytes + tail_bytes(count);
        base = coil__memory_map(*bytes);
    }
    return base;
}

static struct coil__light_slab *create_slab(struct pool *pool, unsigned size_class)
{
    size_t slot_bytes = ((size_t)1 << size_class) + guard_bytes, slot_count, bytes;
    char *base = map_slab(pool, slot_bytes, &slot_count, &bytes);
    struct coil__light_slab *slab;

    if (base == NULL)
        return NULL;
    /* A huge page would commit many stacks at once. */
    coil__memory_keep_pages_small(base, bytes);
    slab = (struct coil__light_slab *)(void *)(base + bytes -
                                               round_up(sizeof *slab + slot_count));
    lay_slab_out(slab, base, bytes, slot_count, slot_bytes);
    coil__list_push(&pool->open, &slab->link);
    coil__list_push(&light->slabs, &slab->all_link);
    if (!publish_slab(slab)) {
        destroy_slab(pool, slab);
        return NULL;
    }
    if (pool->next_slot_count < COIL__SLOTS_MAX)
        pool->next_slot_count *= 2;
    return slab;
}

/* ---- taking slots and giving them back --------------------------------------------- */

char *coil__light_slot(const struct coil__stack *stack)
{
    return stack->low - guard_bytes;
}

char *coil__light_top(const struct coil__stack *stack)
{
    return stack->low + coil__stack_bytes(stack) -
           coil__slot_colour(coil__light_slot(stack));
}

static char *page_of(const char *p)
{
    return (char *)((uintptr_t)p & ~(uintptr_t)(page_bytes - 1));
}

static char *top_page(const struct coil__stack *stack)
{
    return stack->low + coil__stack_bytes(stack) - page_bytes;
}

static struct pool *pool_of(const struct coil__stack *stack)
{
    return &light->pools[(stack->size_class & ~COIL__STACK_APART) - COIL__CLASS_MIN];
}

static struct coil__stack *take_fresh(struct coil__light_slab *slab, unsigned size_class)
{
    unsigned i = slab->fresh++;
    struct coil__stack *stack = stack_of(&slab->records[i]);
    char *slot = slab->slots + i * slab->slot_bytes;
    int saved = errno;

    stack->light_slab = slab;
    stack->low = slot + guard_bytes;
    stack->limit = (const char *)UINTPTR_MAX;
    if (coil__stack_guard == COIL__GUARD_MADVISE && coil__memory_guard(slot, guard_bytes))
        stack->limit = stack->low;
    stack->size_class = (uint8_t)(size_class | COIL__STACK_APART);
    errno = saved;
    return stack;
}

static struct coil__stack *take_slot(struct pool *pool, unsigned size_class)
{
    struct coil__light_slab *slab =
        COIL__CONTAINER(pool->open.next, struct coil__light_slab, link);
    struct coil__stack *stack;

    if (COIL__UNLIKELY(coil__list_empty(&pool->open))) {
        slab = create_slab(pool, size_class);
        if (slab == NULL)
            return NULL;
    }
    stack = slab->free;
    if (stack != NULL)
        slab->free = stack->next;
    else
        stack = take_fresh(slab, size_class);
    if (slab == pool->empty)
        pool->empty = NULL;
    if (COIL__UNLIKELY(++slab->used_count == slab->slot_count)) {
        coil__list_remove(&slab->link);
        coil__list_push(&pool->full, &slab->link);
    }
    return stack;
}

int coil__light_acquire(size_t stack_bytes, size_t control_bytes,
                        struct coil__stack **out)
{
    struct coil__stack *stack;
    int size_class;

    if (COIL__UNLIKELY(light == NULL) && create_light() == NULL)
        return -ENOMEM;
    size_class = coil__slot_class(stack_bytes);
    if (size_class < 0 || control_bytes > COIL__STACK_APART_BYTES)
        return -EINVAL;
    stack = take_slot(&light->pools[size_class - COIL__CLASS_MIN], (unsigned)size_class);
    if (stack == NULL)
        return -ENOMEM;
    light->used_count++;
    light->dirty_count -= stack->dirty;
    coil__asan_unpoison(stack->low, (size_t)(coil__light_top(stack) - stack->low));
    if (COIL__UNLIKELY(coil__stack_measuring()) && stack->dirty)
        stack->dirty =
            !coil__memory_discard(stack->low, (size_t)(top_page(stack) - stack->low));
    coil__stack_begin(stack, coil__light_top(stack));
    stack->cell = NULL;
    stack->light_peak = 0;
    stack->stored_steps = 0;
    stack->state = stack->light_slab->flags[number_of(stack)] == PAGE
                       ? COIL__LIGHT_RESIDENT
                       : COIL__LIGHT_EMPTY;
    *out = stack;
    return 0;
}

/* As coil__stack_trim() does. A stack that is put away has no pages below. */
void coil__light_trim(struct coil__stack *stack)
{
    char *top = top_page(stack);

    stack->trimmed = true;
    if (stack->state != COIL__LIGHT_RESIDENT)
        return;
    if (COIL__UNLIKELY(coil__stack_measuring()) && stack->measured) {
        uint32_t peak = (uint32_t)coil__stack_written(stack);

        stack->peak = peak > stack->light_peak ? peak : stack->light_peak;
        stack->dirty = peak > (size_t)(stack->high - top);
    } else if (!stack->dirty) {
        stack->dirty = coil__slot_looks_dirty(top);
    }
    if (!stack->dirty)
        return;
    if (light->dirty_count >= DIRTY_MAX && !coil__call_fails(EAGAIN, "madvise") &&
        coil__memory_discard(stack->low, (size_t)(top - stack->low)))
        stack->dirty = stack->measured = false;
}

ssize_t coil__light_peak(const struct coil__stack *stack)
{
    size_t now = 0;

    if (stack->trimmed && stack->state < COIL__LIGHT_STORED && stack->peak != 0)
        return (ssize_t)stack->peak;
    if (!stack->measured)
        return -EAGAIN;
    if (stack->state == COIL__LIGHT_RESIDENT)
        now = coil__stack_written(stack);
    return (ssize_t)(now > stack->light_peak ? now : stack->light_peak);
}

/* A task that has ended frees its own slot: what runs may still be on it. */
static bool is_below(const char *low, size_t bytes)
{
    return (uintptr_t)coil__stack_pointer() - (uintptr_t)low < bytes;
}

/* One empty slab is kept, the larger of two; but never is the running stack unmapped. */
static void slab_became_empty(struct pool *pool, struct coil__light_slab *slab)
{
    struct coil__light_slab *other = pool->empty;

    if (other != NULL && other->used_count == 0) {
        if (is_below(other->base, other->bytes) ||
            (other->slot_count > slab->slot_count &&
             !is_below(slab->base, slab->bytes))) {
            destroy_slab(pool, slab);
            return;
        }
        destroy_slab(pool, other);
    }
    pool->empty = slab;
}

static void settle(struct coil__stack *stack);

/* Its task has ended before it was resumed: what it had is gone, and so is its guard. */
static void drop_stored(struct coil__stack *stack)
{
    if (stack->state == COIL__LIGHT_COMING)
        settle(stack);
    if (stack->state != COIL__LIGHT_STORED)
        return;
    coil__memory_unguard(top_page(stack), page_bytes);
    coil__store_give(&light->store, stack->cell);
    light->stored_count--;
}

void coil__light_release(struct coil__stack *stack)
{
    struct pool *pool = pool_of(stack);
    struct coil__light_slab *slab = stack->light_slab;

    if (!stack->trimmed)
        coil__light_trim(stack);
    if (COIL__UNLIKELY(stack->state >= COIL__LIGHT_STORED))
        drop_stored(stack);
    stack->state = COIL__LIGHT_FREE;
    light->dirty_count += stack->dirty;
    stack->next = slab->free;
    slab->free = stack;
    light->used_count--;
    slab->used_count--;
    if (COIL__UNLIKELY(pool->open.next != &slab->link)) {
        coil__list_remove(&slab->link);
        coil__list_push(pool->open.next, &slab->link);
    }
    if (COIL__UNLIKELY(slab->used_count == 0))
        slab_became_empty(pool, slab);
}

/* ---- putting away and bringing back ------------------------------------------------ */

const char *coil__light_off(void)
{
    if (coil__on_valgrind())
        return "Valgrind";
    if (!coil__overflow_watched())
        return "SIGSEGV is not coil's";
    if (coil__stack_set_up() < 0 || coil__stack_guard != COIL__GUARD_MADVISE)
        return "no guard pages";
    if (light != NULL && light->refused)
        return "guard pages are refused";
    return NULL;
}

/* Words, and no call of memcpy(3), which ASan would check: red zones are copied, too. */
COIL__NO_SANITIZE static void copy_raw(void *to, const void *from, size_t bytes)
{
    uint64_t *t = to;
    const uint64_t *f = from;

    for (size_t i = 0; i < bytes / sizeof *t; i++) {
        t[i] = f[i];
        __asm__ volatile("" ::: "memory");
    }
}

static size_t stored_bytes(const struct coil__stack *stack)
{
    return stack->stored_steps * COIL__STORE_STEP;
}

static void set_resident(struct coil__stack *stack, bool is)
{
    unsigned char *flag = &stack->light_slab->flags[number_of(stack)];

    light->resident_count -= *flag == PAGE;
    light->resident_count += is;
    *flag = is ? PAGE : NO_PAGE;
    if (is)
        light->latest[light->latest_next++ % SAMPLE] = stack;
}

/* Copy the live bytes to a cell. The state is set before the page becomes a guard: a
   fault then finds it. */
static bool store_bytes(struct coil__stack *stack, const char *sp)
{
    char *top = coil__light_top(stack);
    size_t bytes;
    void *cell;

    sp = (const char *)((uintptr_t)sp & ~(COIL__STORE_STEP - 1));
    bytes = (size_t)(top - sp);
    if (bytes > COIL__STORE_MAX || bytes == 0 || !coil__stack_guarded(stack))
        return false;
    cell = coil__store_take(&light->store, bytes);
    if (cell == NULL)
        return false;
    copy_raw(cell, sp, bytes);
    stack->cell = cell;
    stack->stored_steps = (uint8_t)(bytes / COIL__STORE_STEP);
    stack->state = COIL__LIGHT_STORED;
    return true;
}

/* The page could not become a guard: it is as it was. */
static void keep(struct coil__stack *stack)
{
    coil__store_give(&light->store, stack->cell);
    stack->state = COIL__LIGHT_RESIDENT;
    light->refused |= errno == EINVAL; /* locked memory; anything else may pass */
}

/* What will be discarded was not measured; from the first call of coil__stack_peak() on it
   is. */
static void remember_peak(struct coil__stack *stack)
{
    if (COIL__UNLIKELY(coil__stack_measuring()) && stack->measured) {
        uint32_t peak = (uint32_t)coil__stack_written(stack);

        stack->light_peak = peak > stack->light_peak ? peak : stack->light_peak;
    } else {
        stack->measured = false;
    }
}

/* The n stacks of light->going were stored: let go of their pages. */
static void let_pages_go(size_t n)
{
    size_t done;

    for (size_t i = 0; i < n; i++) {
        struct coil__stack *stack = light->going[i];

        remember_peak(stack);
        light->pages[i] = (struct iovec){top_page(stack), page_bytes};
        light->below[i] =
            (struct iovec){stack->low, (size_t)(top_page(stack) - stack->low)};
    }
    done = coil__memory_guard_all(light->pages, n);
    coil__memory_discard_all(light->below, done);
    for (size_t i = 0; i < done; i++) {
        light->stored_count++;
        light->going[i]->dirty = false;
        set_resident(light->going[i], false);
        coil__light_owner->gone(light->going[i]);
    }
    for (size_t i = done; i < n; i++)
        keep(light->going[i]);
}

bool coil__light_put_away(struct coil__stack *stack, const char *sp)
{
    int saved = errno;

    if (stack->state == COIL__LIGHT_COMING)
        settle(stack);
    if (stack->state != COIL__LIGHT_RESIDENT || light->refused || !store_bytes(stack, sp))
        return false;
    light->going[0] = stack;
    let_pages_go(1);
    errno = saved;
    return stack->state == COIL__LIGHT_STORED;
}

/* A guard is removed by changing the page's entry alone: that cannot fail. */
static void put_bytes_back(struct coil__stack *stack)
{
    size_t bytes = stored_bytes(stack);

    copy_raw(coil__light_top(stack) - bytes, stack->cell, bytes);
    stack->state = COIL__LIGHT_COMING;
}

/* The handler of SIGSEGV has brought it back. */
static void settle(struct coil__stack *stack)
{
    coil__store_give(&light->store, stack->cell);
    stack->cell = NULL;
    stack->stored_steps = 0;
    stack->state = COIL__LIGHT_RESIDENT;
    light->stored_count--;
    set_resident(stack, true);
}

static void make_room(size_t n);

void coil__light_bring_back_all(struct coil__stack *const *stacks, size_t n)
{
    struct iovec pages[COIL__LIGHT_AHEAD];
    size_t count = 0;
    int saved = errno;

    make_room(n);
    for (size_t i = 0; i < n; i++)
        if (stacks[i]->state == COIL__LIGHT_STORED)
            pages[count++] = (struct iovec){top_page(stacks[i]), page_bytes};
    coil__memory_unguard_all(pages, count);
    for (size_t i = 0; i < n; i++) {
        if (stacks[i]->state == COIL__LIGHT_STORED)
            put_bytes_back(stacks[i]);
        if (stacks[i]->state == COIL__LIGHT_COMING)
            settle(stacks[i]);
    }
    errno = saved;
}

void coil__light_bring_back(struct coil__stack *stack)
{
    if (stack->state >= COIL__LIGHT_STORED)
        coil__light_bring_back_all(&stack, 1);
}

void coil__light_touch(struct coil__stack *stack)
{
    coil__light_bring_back(stack);
    if (stack->state != COIL__LIGHT_EMPTY)
        return;
    make_room(1);
    stack->state = COIL__LIGHT_RESIDENT;
    set_resident(stack, true);
}

/* ---- the cap ----------------------------------------------------------------------- */

static struct coil__light_slab *slab_after(struct coil__light_slab *slab)
{
    struct coil__list *next = slab != NULL ? slab->all_link.next : light->slabs.next;

    if (next == &light->slabs)
        next = next->next;
    return next != &light->slabs
               ? COIL__CONTAINER(next, struct coil__light_slab, all_link)
               : NULL;
}

/* A page on which nothing lies: it needs no guard, and no cell. */
static void add_idle_page(struct coil__stack *stack, size_t *count)
{
    light->below[(*count)++] = (struct iovec){stack->low, coil__stack_bytes(stack)};
    if (stack->state == COIL__LIGHT_RESIDENT)
        stack->state = COIL__LIGHT_EMPTY;
    else
        light->dirty_count -= stack->dirty;
    stack->dirty = false;
    set_resident(stack, false);
}

/* The hand has come to a stack with a page. */
static void consider(struct coil__stack *stack, int64_t since, size_t *idle_count)
{
    const char *sp;

    if (is_below(stack->low, coil__stack_bytes(stack)))
        return;
    if (stack->state == COIL__LIGHT_FREE) {
        add_idle_page(stack, idle_count);
        return;
    }
    if (stack->state != COIL__LIGHT_RESIDENT) /* it goes with this batch already */
        return;
    sp = coil__light_owner->may_go(stack, since);
    if (sp == NULL)
        return;
    if (sp == coil__light_top(stack))
        add_idle_page(stack, idle_count);
    else if (store_bytes(stack, sp))
        light->going[light->going_count++] = stack;
}

/* The handler has brought stacks back: count them. */
static COIL__NOINLINE void settle_strays(void)
{
    light->some_came = false;
    COIL__LIST_EACH (link, &light->slabs) {
        struct coil__light_slab *slab =
            COIL__CONTAINER(link, struct coil__light_slab, all_link);
        unsigned char *flag = slab->flags, *end = flag + slab->fresh;

        while ((flag = memchr(flag, CAME, (size_t)(end - flag))) != NULL)
            settle(stack_of(&slab->records[flag++ - slab->flags]));
    }
}

/*
 * The hand goes once round, or until a batch is full: what has waited since before `since`
 * is put away. Returns how many pages were freed.
 */
static size_t sweep(int64_t since)
{
    struct coil__light_slab *slab = light->hand != NULL ? light->hand : slab_after(NULL),
                            *first = slab;
    unsigned at = light->hand != NULL ? light->hand_slot : 0;
    size_t idle_count = 0, before = light->resident_count;
    bool round = false;
    int saved = errno;

    if (slab == NULL || light->refused || !coil__overflow_is_ours())
        return 0;
    if (light->some_came)
        settle_strays();
    light->going_count = 0;
    while (light->going_count < BATCH && idle_count < BATCH) {
        unsigned char *flag = memchr(slab->flags + at, PAGE, slab->fresh - at);

        if (flag != NULL) {
            at = (unsigned)(flag - slab->flags);
            consider(stack_of(&slab->records[at++]), since, &idle_count);
            continue;
        }
        if (round && slab == first)
            break;
        slab = slab_after(slab);
        round = true;
        at = 0;
    }
    light->hand = slab;
    light->hand_slot = at;
    coil__memory_discard_all(light->below, idle_count);
    let_pages_go(light->going_count);
    errno = saved;
    return before - light->resident_count;
}

/* Nobody counts the pages below the top ones: estimate them by the stacks touched last. */
static void sample_depth(void)
{
    size_t pages = 0, count = 0, depth;

    for (size_t i = 0; i < SAMPLE; i++) {
        const struct coil__stack *stack = light->latest[i];

        if (stack == NULL || stack->state != COIL__LIGHT_RESIDENT)
            continue;
        pages += (coil__stack_written(stack) + page_bytes - 1) / page_bytes;
        count++;
    }
    depth = count > 0 ? (pages + count - 1) / count : 1;
    light->depth = depth > light->depth ? depth : (3 * light->depth + depth) / 4;
}

static COIL__NOINLINE void make_room_now(size_t n)
{
    size_t most;

    sample_depth();
    most = light->cap / light->depth;
    if (light->resident_count + n > most)
        sweep(INT64_MAX);
    light->look_at = light->resident_count + n;
    light->look_at += light->look_at > most ? most / 8 + 1 : BATCH;
    if (light->resident_count + n <= most && light->look_at > most)
        light->look_at = most;
}

/* So many pages more will be used. */
static void make_room(size_t n)
{
    if (COIL__UNLIKELY(light->resident_count + n > light->look_at))
        make_room_now(n);
}

void coil__light_idle(int64_t now)
{
    if (COIL__LIKELY(light == NULL) || light->resident_count == 0 ||
        now - light->aged_at < light->age_ns / 4)
        return;
    light->look_at = 0;
    if (sweep(now - light->age_ns) < BATCH)
        light->aged_at = now; /* else there may be more */
}

void coil__light_limit(size_t resident_bytes, int64_t age_ns)
{
    size_t page = page_bytes != 0 ? page_bytes : 4096;

    limits.cap = resident_bytes / page;
    limits.age_ns = age_ns;
    if (light == NULL)
        return;
    light->cap = limits.cap != 0 ? limits.cap : COIL__LIGHT_RESIDENT_BYTES / page;
    light->age_ns = age_ns != 0 ? age_ns : COIL__LIGHT_AGE_NS;
    light->look_at = 0;
    light->depth = 1;
}

struct coil__light_counts coil__light_counts(void)
{
    if (light == NULL)
        return (struct coil__light_counts){0};
    return (struct coil__light_counts){.used = light->used_count,
                                       .stored = light->stored_count,
                                       .stored_bytes = light->store.bytes,
                                       .resident_bytes =
                                           light->resident_count * page_bytes};
}

size_t coil__light_used(void)
{
    return light != NULL ? light->used_count : 0;
}

void coil__light_drain(void)
{
    if (light == NULL || light->used_count > 0)
        return;
    for (size_t i = 0; i < COIL__CLASS_COUNT; i++) {
        struct pool *pool = &light->pools[i];

        while (!coil__list_empty(&pool->open))
            destroy_slab(pool,
                         COIL__CONTAINER(pool->open.next, struct coil__light_slab, link));
    }
    coil__store_drain(&light->store);
    munmap(light, sizeof *light);
    light = NULL;
}

/* ---- strays ------------------------------------------------------------------------ */

/* The stack whose top page the address is in, if that one is put away. */
static struct coil__stack *find_stored(const struct coil__light_slab *slab,
                                       const char *address)
{
    size_t i = (size_t)(address - slab->slots) / slab->slot_bytes;
    struct coil__stack *stack = stack_of(&slab->records[i]);

    if (stack->state != COIL__LIGHT_STORED || page_of(address) != top_page(stack))
        return NULL;
    return stack;
}

bool coil__light_fault(const char *address)
{
    struct entry *entry = find_entry(address);
    struct coil__light_slab *slab = entry != NULL ? atomic_load(&entry->slab) : NULL;
    struct coil__stack *stack = slab != NULL ? find_stored(slab, address) : NULL;
    int saved = errno;

    if (stack == NULL)
        return false;
    if (entry->owner != &coil__coro_thread) {
        coil__line_print("coil: thread %zu touched the stack of %s, which is put away; a "
                         "light task's stack is its own thread's\n",
                         (size_t)coil__thread_id(),
                         coil__coro_label(COIL__CONTAINER(stack, coil__coro, stack)));
        return false;
    }
    coil__memory_unguard(top_page(stack), page_bytes);
    put_bytes_back(stack);
    slab->flags[number_of(stack)] = CAME;
    light->some_came = true;
    errno = saved;
    return true;
}
