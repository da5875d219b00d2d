/*
 * light.c - acquires and releases light stacks, which can be swapped out while their
 * coroutine waits. light_slab.h shows their layout in memory.
 */
#include "light_slab.h"

#include "../base/fault.h"
#include "../kernel/memory.h"
#include "coroutine.h"
#include "sanitizer.h"

#include <string.h>
#include <sys/mman.h>

#define DIRTY_MAX 64

#ifdef __aarch64__
#define GUARD_BYTES ((size_t)68 * 1024)
#else
#define GUARD_BYTES ((size_t)12 * 1024)
#endif

COIL__THREAD_LOCAL struct coil__light *coil__light;
static COIL__THREAD_LOCAL struct {
    size_t cap;
    int64_t age_ns;
} limits;

size_t coil__light_page_bytes, coil__light_guard_bytes;

/* ---- slabs ------------------------------------------------------------------------- */

static struct coil__light *create_light(void)
{
    struct coil__light *created;

    if (coil__stack_set_up() < 0)
        return NULL;
    coil__light_page_bytes = coil__slot_page_bytes;
    coil__light_guard_bytes =
        GUARD_BYTES / coil__light_page_bytes * coil__light_page_bytes;
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
    coil__light = created;
    coil__light_limit(limits.cap * coil__light_page_bytes, limits.age_ns);
    return created;
}

static size_t round_up(size_t bytes)
{
    return (bytes + coil__light_page_bytes - 1) & ~(coil__light_page_bytes - 1);
}

static void lay_slab_out(struct coil__light_slab *slab, char *base, size_t bytes,
                         size_t slot_count, size_t slot_bytes)
{
    slab->base = base;
    slab->bytes = bytes;
    slab->slot_bytes = slot_bytes;
    slab->slot_count = (unsigned)slot_count;
    slab->slots = base + coil__light_page_bytes;
    slab->records =
        (struct coil__light_record *)(void *)(slab->slots + slot_count * slot_bytes);
    slab->flags = (unsigned char *)(slab + 1);
}

/*
 * Return the number of bytes behind the slots: the records, the flags and struct
 * coil__light_slab.
 */
static size_t tail_bytes(size_t slot_count)
{
    return round_up(slot_count * sizeof(struct coil__light_record)) +
           round_up(sizeof(struct coil__light_slab) + slot_count);
}

static void destroy_slab(struct coil__light_pool *pool, struct coil__light_slab *slab)
{
    if (coil__light->hand == slab)
        coil__light->hand = NULL;
    memset(coil__light->latest, 0, sizeof coil__light->latest);
    if (pool->empty == slab)
        pool->empty = NULL;
    for (unsigned i = 0; i < slab->fresh; i++) {
        coil__light->dirty_count -= coil__light_stack_of(&slab->records[i])->dirty;
        coil__light->resident_count -= slab->flags[i] == COIL__LIGHT_PAGE;
    }
    if (slab->entry != NULL)
        atomic_store_explicit(&slab->entry->slab, NULL, memory_order_release);
    coil__list_remove(&slab->link);
    coil__list_remove(&slab->all_link);
    coil__asan_unpoison(slab->base, slab->bytes);
    munmap(slab->base, slab->bytes);
}

/*
 * Map memory for a slab. Address space may be limited, so halve the number of slots until
 * mmap(2) succeeds.
 */
static char *map_slab(const struct coil__light_pool *pool, size_t slot_bytes,
                      size_t *slot_count, size_t *bytes)
{
    size_t count = pool->next_slot_count;
    char *base = NULL;

    while (count > 1 && count * slot_bytes > COIL__SLAB_BYTES_MAX)
        count /= 2;
    for (; count > 0 && base == NULL; count /= 2) {
        *slot_count = count;
        *bytes = coil__light_page_bytes + count * slot_bytes + tail_bytes(count);
        base = coil__memory_map(*bytes);
    }
    return base;
}

static struct coil__light_slab *create_slab(struct coil__light_pool *pool,
                                            unsigned size_class)
{
    size_t slot_bytes = ((size_t)1 << size_class) + coil__light_guard_bytes, slot_count,
           bytes;
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
    coil__list_push(&coil__light->slabs, &slab->all_link);
    if (!coil__light_publish(slab)) {
        destroy_slab(pool, slab);
        return NULL;
    }
    if (pool->next_slot_count < COIL__SLOTS_MAX)
        pool->next_slot_count *= 2;
    return slab;
}

/* ---- acquiring and releasing slots ------------------------------------------------- */

char *coil__light_slot(const struct coil__stack *stack)
{
    return stack->low - coil__light_guard_bytes;
}

char *coil__light_top(const struct coil__stack *stack)
{
    return stack->low + coil__stack_bytes(stack) -
           coil__slot_colour(coil__light_slot(stack));
}

static struct coil__light_pool *pool_of(const struct coil__stack *stack)
{
    return &coil__light
                ->pools[(stack->size_class & ~COIL__STACK_LIGHT) - COIL__CLASS_MIN];
}

static struct coil__stack *take_fresh(struct coil__light_slab *slab, unsigned size_class)
{
    unsigned i = slab->fresh++;
    struct coil__stack *stack = coil__light_stack_of(&slab->records[i]);
    char *slot = slab->slots + i * slab->slot_bytes;
    int saved = errno;

    stack->light_slab = slab;
    stack->low = slot + coil__light_guard_bytes;
    stack->limit = (const char *)UINTPTR_MAX;
    if (coil__stack_guard == COIL__GUARD_MADVISE &&
        coil__memory_guard(slot, coil__light_guard_bytes))
        stack->limit = stack->low;
    stack->size_class = (uint8_t)(size_class | COIL__STACK_LIGHT);
    errno = saved;
    return stack;
}

static struct coil__stack *take_slot(struct coil__light_pool *pool, unsigned size_class)
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

    if (COIL__UNLIKELY(coil__light == NULL) && create_light() == NULL)
        return -ENOMEM;
    size_class = coil__slot_class(stack_bytes);
    if (size_class < 0 || control_bytes > COIL__LIGHT_BLOCK_BYTES)
        return -EINVAL;
    stack = take_slot(&coil__light->pools[size_class - COIL__CLASS_MIN],
                      (unsigned)size_class);
    if (stack == NULL)
        return -ENOMEM;
    coil__light->used_count++;
    coil__light->dirty_count -= stack->dirty;
    coil__asan_unpoison(stack->low, (size_t)(coil__light_top(stack) - stack->low));
    if (COIL__UNLIKELY(coil__stack_measuring()) && stack->dirty)
        stack->dirty = !coil__memory_discard(
            stack->low, (size_t)(coil__light_top_page(stack) - stack->low));
    coil__stack_begin(stack, coil__light_top(stack));
    stack->cell = NULL;
    stack->light_peak = 0;
    stack->stored_steps = 0;
    stack->state =
        stack->light_slab->flags[coil__light_number_of(stack)] == COIL__LIGHT_PAGE
            ? COIL__LIGHT_RESIDENT
            : COIL__LIGHT_EMPTY;
    *out = stack;
    return 0;
}

/*
 * Discard the pages below the top page if many stacks are dirty. A stack that is swapped
 * out has no such pages.
 */
void coil__light_trim(struct coil__stack *stack)
{
    char *top = coil__light_top_page(stack);

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
    if (coil__light->dirty_count >= DIRTY_MAX && !coil__call_fails(EAGAIN, "madvise") &&
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

/*
 * Keep one empty slab. If there are two, unmap the smaller one, but never the slab of the
 * stack on which this code runs.
 */
static void slab_became_empty(struct coil__light_pool *pool,
                              struct coil__light_slab *slab)
{
    struct coil__light_slab *other = pool->empty;

    if (other != NULL && other->used_count == 0) {
        if (coil__light_is_below(other->base, other->bytes) ||
            (other->slot_count > slab->slot_count &&
             !coil__light_is_below(slab->base, slab->bytes))) {
            destroy_slab(pool, slab);
            return;
        }
        destroy_slab(pool, other);
    }
    pool->empty = slab;
}

void coil__light_release(struct coil__stack *stack)
{
    struct coil__light_pool *pool = pool_of(stack);
    struct coil__light_slab *slab = stack->light_slab;

    if (!stack->trimmed)
        coil__light_trim(stack);
    if (COIL__UNLIKELY(stack->state >= COIL__LIGHT_STORED))
        coil__light_drop_stored(stack);
    stack->state = COIL__LIGHT_FREE;
    coil__light->dirty_count += stack->dirty;
    stack->next = slab->free;
    slab->free = stack;
    coil__light->used_count--;
    slab->used_count--;
    if (COIL__UNLIKELY(pool->open.next != &slab->link)) {
        coil__list_remove(&slab->link);
        coil__list_push(pool->open.next, &slab->link);
    }
    if (COIL__UNLIKELY(slab->used_count == 0))
        slab_became_empty(pool, slab);
}

/* ---- limits and counts ------------------------------------------------------------- */

void coil__light_limit(size_t resident_bytes, int64_t age_ns)
{
    size_t page = coil__light_page_bytes != 0 ? coil__light_page_bytes : 4096;

    limits.cap = resident_bytes / page;
    limits.age_ns = age_ns;
    if (coil__light == NULL)
        return;
    coil__light->cap = limits.cap != 0 ? limits.cap : COIL__LIGHT_RESIDENT_BYTES / page;
    coil__light->age_ns = age_ns != 0 ? age_ns : COIL__LIGHT_AGE_NS;
    coil__light->next_check = 0;
    coil__light->depth = 1;
}

struct coil__light_counts coil__light_counts(void)
{
    if (coil__light == NULL)
        return (struct coil__light_counts){0};
    return (struct coil__light_counts){.used = coil__light->used_count,
                                       .stored = coil__light->stored_count,
                                       .stored_bytes = coil__light->store.bytes,
                                       .resident_bytes = coil__light->resident_count *
                                                         coil__light_page_bytes};
}

size_t coil__light_used(void)
{
    return coil__light != NULL ? coil__light->used_count : 0;
}

void coil__light_drain(void)
{
    if (coil__light == NULL || coil__light->used_count > 0)
        return;
    for (size_t i = 0; i < COIL__CLASS_COUNT; i++) {
        struct coil__light_pool *pool = &coil__light->pools[i];

        while (!coil__list_empty(&pool->open))
            destroy_slab(pool,
                         COIL__CONTAINER(pool->open.next, struct coil__light_slab, link));
    }
    coil__store_drain(&coil__light->store);
    munmap(coil__light, sizeof *coil__light);
    coil__light = NULL;
}
