/*
 * stack.c - slots for stacks, cut from slabs.
 *
 * A slab is one mapping of many slots. The kernel gives a slab memory page by page, as
 * the pages are touched:
 *
 *     | page | slot 0 | slot 1 | ... | slot n-1 | struct coil__slab |
 *     each slot: | guard | stack ... | control block | colour | canary |
 *
 * Light stacks, which can be swapped out, have separate slabs and pools: light.c.
 *
 * Each thread has one pool per size class, a power of two from 16 KiB to 1 GiB. A pool's
 * slabs grow geometrically, from 16 slots to 4096, so a million stacks take a few hundred
 * mappings, and the kernel may merge neighbours. The slot that was freed last is used
 * first, because its top page is in the cache. A slab that becomes empty is unmapped,
 * unless it is the pool's only empty slab. So memory is returned after a peak, but a
 * small change in the number of stacks does not map and unmap slabs repeatedly. When a
 * loop closes, pools that have only their first slab stay mapped for the thread's next
 * loop. Such a slab occupies at most 18 pages: one for each of its 16 slots, and two
 * more. Mapping such a slab again would take five system calls and five page faults,
 * which is half the time of a short coil_run().
 *
 * Invariants
 * 1. A slot that was never used has not been touched. The slots of a slab are first used
 *    in ascending order, so the slot below a used slot was used earlier.
 * 2. A slot's bookkeeping data is the struct coil__stack at the beginning of its control
 *    block, even while the slot is free. So reusing a free slot only removes the slot
 *    from a list. The block's page stays as long as the slab is mapped. By default 448
 *    bytes are reserved for the block, so all kinds of blocks begin at the same offset.
 *    If a longer block is requested, the beginning of the block moves down, and stays
 *    there.
 * 3. pool.dirty_count is the number of slots that kept their pages after their coroutine
 *    had ended. slab.dirty_count is the number of these slots that are free.
 *
 * Sizes. A slot consists of a guard and the smallest power of two that holds the
 * requested size, including the control block. On x86-64 the guard is 60 KiB long: longer
 * than the frame of nearly every function that does not probe its frame
 * (-fstack-clash-protection probes page by page). On aarch64 the guard is 68 KiB long,
 * because gcc probes each 64 KiB there. A guard costs only entries in a page table that
 * the stack's own pages need anyway: 8 bytes for each 4 KiB, or 120 bytes for each guard
 * of 60 KiB.
 *
 * Wide guards. A frame that reaches beyond a guard of 60 KiB would write to another
 * stack. So the guards of the first 112 slots of a pool are 1020 KiB long, unless the
 * stacks themselves are that long. A wide guard takes 2 KiB of page tables and, when its
 * slot is used for the first time, 4 us. So all tasks of a small program have wide
 * guards, while a million tasks take hardly more memory. In debug mode the first 4096
 * slots of each pool have wide guards.
 *
 * Colours. If all control blocks had the same distance from the end of their slot, the
 * tops of all stacks would share a few sets of the cache, each of which holds about a
 * dozen lines. So each control block is moved down by one of 16 multiples of a cache
 * line, chosen by the slot's address. The block stays in the same page. (On Zen, colours
 * reduce the time to gather 100 tasks from 105 ns to 76 ns per task, and the time of a
 * yield between two tasks from 12.2 ns to 9.5 ns.)
 *
 * For the same reason the length of a guard, and so of a slot, is an odd number of pages.
 * Otherwise the tops of all stacks would also share a few sets of the TLB, and each
 * access to a top would walk the page tables. (On Zen 5, accessing 1,000 stacks of 128
 * KiB in turn takes 21 ns per access if the stacks are at multiples of 128 KiB, and 5 ns
 * at multiples of 132 KiB. In an echo server with 1,000 connections, the difference is 2
 * to 4 % of a request.) The odd size also gives any 16 consecutive slots 16 different
 * colours.
 *
 * Guards. coil__memory_guard() makes pages fault without splitting the mapping. The guard
 * is installed when a slot is first used, and survives reuse and coil__memory_discard().
 * Older kernels do not support such guards, and before Linux 6.15 the kernel refuses them
 * for locked memory (mlockall(2)). In these cases the guards are made with mprotect(2).
 * Each such guard costs two mappings, so guards take at most a quarter of the mappings
 * that a process may have. Any further stacks have no guard, which coil reports once.
 *
 * Overflows. An access to a guard raises SIGSEGV, and overflow.c prints the coroutine's
 * name. There are two more checks. When a coroutine is suspended, its stack pointer is
 * compared with the lowest address that it may have, which detects a frame that reaches
 * beyond the guard. When the coroutine has ended, the canary is checked: 16 bytes at the
 * top of the slot below, to which no code may write.
 *
 * If a stack has no guard, the addresses of the missing guard are unused memory. An
 * overflow by recursion writes there first, at least one return address per frame. So
 * when the coroutine is suspended, the highest 4 KiB of this memory must still be zero.
 * Reading untouched pages commits no memory, because the kernel maps its page of zeros.
 * The check takes about 50 ns, and finds any overflow by frames smaller than 4 KiB,
 * whether or not they have returned.
 *
 * One overflow goes undetected: a frame larger than the guard that writes beyond it,
 * misses the canary, and returns before the coroutine is suspended. Code compiled with
 * -fstack-clash-protection, such as coil, does not have such frames. Checking the canary
 * at each switch would find hardly any more overflows. A guard is right above the canary,
 * so a write that runs upwards through the canary faults in the guard, and a write that
 * ends below the canary does not change it. The check would also read a cache line of the
 * slot below, which is not in the cache if there are many tasks.
 *
 * Trimming. Without trimming, the pages that a coroutine has written would stay resident
 * in the pool after the coroutine has ended. mincore(2) would find them, but costs more
 * than a spawn, so the page below the top page is probed instead. In a slot that was
 * clean, that page is untouched or all zero unless frames reached it and left return
 * addresses there. Only 31 words are read: a frame that spans the page without writing
 * any of them goes unnoticed until a later coroutine writes one. If the slot is dirty,
 * the pages below the control block's page are discarded. But up to DIRTY_MAX dirty slots
 * of a pool keep their pages, because the next coroutine will probably need as much
 * stack.
 *
 * Peaks. If a slot was clean when it was taken, the lowest resident page of the stack is
 * the lowest page that was written. Once a thread has requested a peak, each slot that it
 * takes is cleaned first, and each coroutine's peak is stored before its pages are
 * discarded. In that case the second page is not probed, because reading a page makes it
 * resident.
 */
#include "stack.h"

#include "../base/fault.h"
#include "../base/line.h"
#include "../kernel/memory.h"
#include "light.h"
#include "sanitizer.h"
#include "slots.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <coil/coro.h>

#ifdef __aarch64__
#define GUARD_BYTES ((size_t)68 * 1024)
#else
#define GUARD_BYTES ((size_t)60 * 1024)
#endif
#define WIDE_GUARD_BYTES ((size_t)1020 * 1024)
#define WIDE_MAX 112                   /* slots with wide guards */
#define WIDE_MAX_DEBUG 4096            /* in debug mode */
#define WIDE_CLASS_MAX 19              /* log2 of 512 KiB; in debug mode, all sizes */
#define UNTOUCHED_BYTES ((size_t)4096) /* checked below a stack without a guard */
#define DIRTY_MAX 64
#define COLOUR_COUNT 16
#define COLOUR_BYTES 64
#define CANARY UINT64_C(0x9d5ac0117ac1e5f3)

/* The highest bytes of a slot. */
struct canary {
    uint64_t words[2];
};

struct coil__stack_pool {
    struct coil__list open; /* slabs with free slots, the last freed slot's slab first */
    struct coil__list full;
    struct coil__slab *empty; /* the spare slab, which is not unmapped; or NULL */
    size_t next_slot_count;
    size_t wide_count; /* slots with wide guards */
    unsigned dirty_count;
    uint8_t size_class;
};

struct pools {
    struct coil__stack_pool *usual; /* the pool for COIL_STACK_BYTES */
    bool measuring; /* a peak was requested: clean slots when they are taken */
    bool watched;   /* a sanitizer is present */
    bool on_valgrind;
    struct coil__stack_pool by_class[COIL__CLASS_COUNT];
};

static struct coil__slab no_slab; /* a slab without free slots */
COIL__THREAD_LOCAL struct coil__slab *coil__stack_slab = &no_slab;
enum coil__guard coil__stack_guard = COIL__GUARD_MADVISE;

static COIL__THREAD_LOCAL struct pools *pools;
static COIL__THREAD_LOCAL bool debugging;

size_t coil__slot_page_bytes;
static size_t page_bytes, usual_guard_bytes, wide_guard_bytes;
static atomic_flag said_no_guards = ATOMIC_FLAG_INIT;
static atomic_long mprotect_budget;
static pthread_key_t exit_key;
static bool has_exit_key;
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;

/* ---- once per process, once per thread --------------------------------------------- */

/* Test MADV_GUARD_INSTALL on a page mapped for this purpose. */
static bool can_guard_by_madvise(void)
{
    void *page = coil__memory_map(page_bytes);
    bool can;

    if (page == NULL)
        return false;
    can = coil__memory_has_guards(page, page_bytes);
    munmap(page, page_bytes);
    return can;
}

static void drain_at_exit(void *ours)
{
    (void)ours;
    coil__stack_drain();
}

static void set_up_stacks(void)
{
    int saved = errno;

    coil__slot_page_bytes = page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    /* Round down to whole pages, which may be up to 64 KiB in size. */
    usual_guard_bytes = GUARD_BYTES / page_bytes * page_bytes;
    wide_guard_bytes = WIDE_GUARD_BYTES / page_bytes * page_bytes;
    /*
     * A guard made by mprotect(2) costs two mappings, and all guards together may take a
     * quarter of all mappings.
     */
    atomic_store(&mprotect_budget, coil__memory_mapping_limit() / 8);
    if (coil__stack_guard == COIL__GUARD_MADVISE && !can_guard_by_madvise())
        coil__stack_guard = COIL__GUARD_MPROTECT;
    has_exit_key = pthread_key_create(&exit_key, drain_at_exit) == 0;
    errno = saved;
}

/*
 * Called when the library is unloaded with dlclose(3): unmap the slabs, and remove the
 * destructor, which would otherwise run when another thread ends.
 */
COIL__AT_EXIT static void drain_at_unload(void)
{
    coil__stack_drain();
    if (has_exit_key)
        pthread_key_delete(exit_key);
}

int coil__slot_class(size_t stack_bytes)
{
    size_t bytes = stack_bytes != 0 ? stack_bytes : COIL_STACK_BYTES;
    int size_class = COIL__CLASS_MIN;

    if (bytes > (size_t)1 << COIL__CLASS_MAX)
        return -1;
    if (bytes < 4 * page_bytes)
        bytes = 4 * page_bytes; /* one page for the control block, three for the stack */
    if (bytes > (size_t)1 << COIL__CLASS_MIN)
        size_class = 64 - __builtin_clzll(bytes - 1);
    return size_class;
}

/* Return the pool of the smallest size class for stack_bytes, or NULL. */
static struct coil__stack_pool *pool_for(size_t stack_bytes)
{
    int size_class = coil__slot_class(stack_bytes);

    return size_class >= 0 ? &pools->by_class[size_class - COIL__CLASS_MIN] : NULL;
}

int coil__stack_set_up(void)
{
    struct pools *created;

    if (pools != NULL)
        return 0;
    pthread_once(&set_up_once, set_up_stacks);
    created = coil__memory_map(sizeof *created);
    if (created == NULL)
        return -ENOMEM;
    if (pthread_setspecific(exit_key, created) != 0) {
        munmap(created, sizeof *created);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < COIL__CLASS_COUNT; i++) {
        struct coil__stack_pool *pool = &created->by_class[i];

        coil__list_init(&pool->open);
        coil__list_init(&pool->full);
        pool->next_slot_count = COIL__SLOTS_MIN;
        pool->size_class = (uint8_t)(COIL__CLASS_MIN + i);
    }
    pools = created;
    pools->usual = pool_for(COIL_STACK_BYTES);
    pools->watched = coil__san_present();
    pools->on_valgrind = coil__on_valgrind();
    return 0;
}

/* ---- slabs ------------------------------------------------------------------------- */

static size_t slot_bytes(unsigned size_class, size_t guard_bytes)
{
    return ((size_t)1 << size_class) + guard_bytes;
}

static size_t slot_bytes_of(const struct coil__slab *slab)
{
    return slot_bytes(slab->pool->size_class, slab->guard_bytes);
}

void coil__stack_set_debug(bool on)
{
    if (on && !debugging)
        coil__stack_drain(); /* slabs of earlier loops may have shorter guards */
    debugging = on;
}

/* Return the length of the guards in the pool's next slab. */
static size_t choose_guard(const struct coil__stack_pool *pool)
{
    size_t after = pool->wide_count + pool->next_slot_count;

    if (after <= WIDE_MAX && pool->size_class <= WIDE_CLASS_MAX)
        return wide_guard_bytes;
    return debugging && after <= WIDE_MAX_DEBUG ? wide_guard_bytes : usual_guard_bytes;
}

/*
 * Choose the slab for the fast path (coil__stack_slab). Called when the pool's first slab
 * has changed.
 */
static void choose_slab(const struct coil__stack_pool *pool)
{
    if (pool != pools->usual)
        return;
    coil__stack_slab = &no_slab;
    if (!coil__list_empty(&pool->open) && !pools->measuring && !pools->watched)
        coil__stack_slab = COIL__CONTAINER(pool->open.next, struct coil__slab, link);
}

/*
 * Map memory for a slab. Address space may be limited: if mmap(2) fails, try again
 * without wide guards, then with half as many slots, until mmap(2) succeeds.
 */
static char *map_slab(const struct coil__stack_pool *pool, size_t *slot_count,
                      size_t *guard_bytes, size_t *bytes)
{
    size_t count = pool->next_slot_count;

    *guard_bytes = choose_guard(pool);
    while (count > 1 &&
           count * slot_bytes(pool->size_class, *guard_bytes) > COIL__SLAB_BYTES_MAX)
        count /= 2;
    while (count > 0) {
        char *base;

        *slot_count = count;
        *bytes = count * slot_bytes(pool->size_class, *guard_bytes) + 2 * page_bytes;
        base = coil__memory_map(*bytes);
        if (base != NULL)
            return base;
        if (*guard_bytes == usual_guard_bytes)
            count /= 2;
        *guard_bytes = usual_guard_bytes;
    }
    return NULL;
}

static void write_canary(char *end)
{
    *((struct canary *)(void *)end - 1) = (struct canary){{CANARY, CANARY}};
}

static struct coil__slab *create_slab(struct coil__stack_pool *pool)
{
    size_t slot_count, guard_bytes, bytes;
    char *base = map_slab(pool, &slot_count, &guard_bytes, &bytes);
    struct coil__slab *slab;

    if (base == NULL)
        return NULL;
    /* A huge page would commit many stacks at once. */
    coil__memory_keep_pages_small(base, bytes);
    slab = (struct coil__slab *)(base + bytes - page_bytes);
    slab->base = base;
    slab->bytes = bytes;
    slab->guard_bytes = guard_bytes;
    if (guard_bytes != usual_guard_bytes)
        pool->wide_count += slot_count;
    slab->slot_count = (unsigned)slot_count;
    slab->pool = pool;
    write_canary(base + page_bytes);
    coil__list_push(&pool->open, &slab->link);
    if (pool->next_slot_count < COIL__SLOTS_MAX)
        pool->next_slot_count *= 2;
    return slab;
}

static void destroy_slab(struct coil__stack_pool *pool, struct coil__slab *slab)
{
    coil__list_remove(&slab->link);
    pool->dirty_count -= slab->dirty_count;
    if (slab->guard_bytes != usual_guard_bytes)
        pool->wide_count -= slab->slot_count;
    atomic_fetch_add(&mprotect_budget, slab->mprotect_count);
    /* Slots that were never taken are not poisoned. */
    coil__asan_unpoison(slab->base + page_bytes, slab->fresh * slot_bytes_of(slab));
    for (struct coil__stack *stack = slab->free; pools->on_valgrind && stack != NULL;
         stack = stack->next)
        coil__valgrind_end(stack);
    munmap(slab->base, slab->bytes);
}

static void destroy_slabs(struct coil__stack_pool *pool, struct coil__list *slabs)
{
    while (!coil__list_empty(slabs))
        destroy_slab(pool, COIL__CONTAINER(slabs->next, struct coil__slab, link));
}

/* ---- guards ------------------------------------------------------------------------ */

static bool install_mprotect(struct coil__slab *slab, char *slot)
{
    if (atomic_fetch_sub(&mprotect_budget, 1) <= 0)
        goto refused;
    if (COIL__CALL(ENOMEM, mprotect(slot, slab->guard_bytes, PROT_NONE)) != 0)
        goto refused;
    slab->mprotect_count++;
    return true;
refused:
    atomic_fetch_add(&mprotect_budget, 1);
    return false;
}

/*
 * Warn only once per process, because many more stacks without a guard will probably
 * follow.
 */
static void warn_no_guards(void)
{
    if (!atomic_flag_test_and_set(&said_no_guards))
        coil__line_print("coil: the kernel refuses guard pages for further stacks "
                         "(vm.max_map_count): an overflow of such a stack is detected "
                         "only when its coroutine waits or ends\n");
}

static bool install_guard(struct coil__slab *slab, char *slot)
{
    int saved = errno;
    bool guarded = false;

    if (coil__stack_guard == COIL__GUARD_MADVISE)
        guarded = coil__memory_guard(slot, slab->guard_bytes);
    if (!guarded && coil__stack_guard != COIL__GUARD_CHECK) {
        guarded = install_mprotect(slab, slot);
        if (!guarded)
            warn_no_guards();
    }
    errno = saved;
    return guarded;
}

char *coil__stack_slot(const struct coil__stack *stack)
{
    if (coil__stack_is_light(stack))
        return coil__light_slot(stack);
    return stack->low - stack->slab->guard_bytes;
}

/*
 * True if the memory below a stack without a guard is all zero, that is, if its first
 * word is zero and each word equals the word before it.
 */
static bool is_untouched_below(const char *low)
{
    const uint64_t *word = (const uint64_t *)(const void *)(low - UNTOUCHED_BYTES);

    return word[0] == 0 && memcmp(word, word + 1, UNTOUCHED_BYTES - sizeof *word) == 0;
}

/*
 * True if the canary below the stack is intact. Light stacks have no canary, because the
 * page of the slot below may not be resident.
 */
static bool has_canary_below(const struct coil__stack *stack)
{
    const struct canary *below =
        (const struct canary *)(const void *)coil__stack_slot(stack) - 1;

    return coil__stack_is_light(stack) ||
           (below->words[0] == CANARY && below->words[1] == CANARY);
}

bool coil__stack_check(const struct coil__stack *stack, const void *sp)
{
    return (const char *)sp >= stack->low && has_canary_below(stack) &&
           (coil__stack_guarded(stack) || is_untouched_below(stack->low));
}

/* ---- taking slots ------------------------------------------------------------------ */

size_t coil__slot_colour(const char *slot)
{
    return (uintptr_t)slot / page_bytes % COLOUR_COUNT * COLOUR_BYTES;
}

/* Write a new slot's canary, and return the address of its control block. */
static struct coil__stack *place_block(const struct coil__slab *slab, unsigned i,
                                       size_t bytes)
{
    size_t slot = slot_bytes_of(slab);
    char *slots = slab->base + page_bytes, *end = slots + (i + 1) * slot;

    write_canary(end);
    end -= sizeof(struct canary) + bytes;
    end -= (uintptr_t)end & 63;
    return (struct coil__stack *)(void *)(end - coil__slot_colour(slots + i * slot));
}

static struct coil__stack *take_fresh(const struct coil__stack_pool *pool,
                                      struct coil__slab *slab)
{
    unsigned i = slab->fresh++;
    char *slot = slab->base + page_bytes + i * slot_bytes_of(slab);
    struct coil__stack *stack = place_block(slab, i, COIL__STACK_BLOCK_BYTES);

    stack->low = slot + slab->guard_bytes;
    stack->limit = install_guard(slab, slot) ? stack->low : (const char *)UINTPTR_MAX;
    stack->slab = slab;
    stack->size_class = pool->size_class;
    stack->block_lines = COIL__STACK_BLOCK_BYTES / 64;
    stack->exact = true;
    coil__valgrind_begin(stack, (char *)stack);
    return stack;
}

/* Return a slab with a free slot, or NULL if memory runs out. */
static struct coil__slab *first_with_room(struct coil__stack_pool *pool)
{
    struct coil__slab *slab = NULL;

    while (slab == NULL && !coil__list_empty(&pool->open)) {
        slab = COIL__CONTAINER(pool->open.next, struct coil__slab, link);
        if (slab->free == NULL && slab->fresh == slab->slot_count) {
            coil__list_remove(&slab->link);
            coil__list_push(&pool->full, &slab->link);
            slab = NULL;
        }
    }
    if (slab == NULL)
        slab = create_slab(pool);
    choose_slab(pool);
    return slab;
}

/* Take a slot from the pool's first slab, which contains the slot that was freed last. */
static struct coil__stack *take_slot(struct coil__stack_pool *pool)
{
    struct coil__slab *slab = first_with_room(pool);
    struct coil__stack *stack;

    if (slab == NULL)
        return NULL;
    stack = coil__stack_pop(slab);
    if (stack != NULL)
        return stack;
    slab->used_count++;
    return take_fresh(pool, slab);
}

static char *page_of(const char *p)
{
    return (char *)((uintptr_t)p & ~(uintptr_t)(page_bytes - 1));
}

/*
 * Discard the pages below the control block's page, which an earlier coroutine has
 * written.
 */
static void clean(struct coil__stack *stack)
{
    char *top = page_of((char *)stack - 1);
    int saved = errno;

    stack->dirty = !coil__memory_discard(stack->low, (size_t)(top - stack->low));
    errno = saved;
}

void coil__stack_took_dirty(const struct coil__stack *stack)
{
    stack->slab->dirty_count--;
    stack->slab->pool->dirty_count--;
}

/* Lengthen a control block that is too short by moving its beginning down. */
static COIL__NOINLINE struct coil__stack *extend_block(struct coil__stack *stack,
                                                       size_t control_bytes)
{
    size_t lines = (control_bytes + 63) / 64;
    char *moved = (char *)stack - (lines - stack->block_lines) * 64;

    stack->block_lines = (uint8_t)lines;
    return memmove(moved, stack, sizeof *stack);
}

int coil__stack_acquire(size_t stack_bytes, size_t control_bytes, bool light,
                        struct coil__stack **out)
{
    struct coil__stack *stack;
    struct coil__stack_pool *pool;

    if (light)
        return coil__light_acquire(stack_bytes, control_bytes, out);
    if (pools == NULL && coil__stack_set_up() < 0)
        return -ENOMEM;
    pool = pool_for(stack_bytes);
    if (pool == NULL || control_bytes > ((size_t)1 << COIL__CLASS_MIN) / 4)
        return -EINVAL;
    stack = take_slot(pool);
    if (stack == NULL)
        return -ENOMEM;
    if (control_bytes > stack->block_lines * (size_t)64)
        stack = extend_block(stack, control_bytes);
    if (pools->measuring && (stack->dirty || !stack->exact))
        clean(stack);
    coil__stack_begin(stack, (char *)stack);
    coil__asan_unpoison(stack->low, (size_t)(stack->high - stack->low));
    *out = stack;
    return 0;
}

/* ---- releasing slots --------------------------------------------------------------- */

/* True if one of 31 words in the page that ends at `top` is not zero. */
COIL__NO_SANITIZE bool coil__slot_looks_dirty(const char *top)
{
    const uint64_t *word = (const uint64_t *)(const void *)top;
    uint64_t bits = 0;

    if (pools->on_valgrind)
        return false;
    for (int i = 1; i <= 16; i++)
        bits |= word[-i];
    for (int i = 1; i <= 15; i++)
        bits |= word[-i * 32 - 1];
    return bits != 0;
}

bool coil__stack_measuring(void)
{
    return pools->measuring;
}

/* Return the lowest resident page between `at` and `end`, or `end` if there is none. */
static char *lowest_resident(char *at, char *end)
{
    unsigned char in_core[256];

    while (at < end) {
        size_t n = (size_t)(end - at) / page_bytes;

        if (n > sizeof in_core)
            n = sizeof in_core;
        if (mincore(at, n * page_bytes, in_core) != 0)
            return end;
        for (size_t i = 0; i < n; i++, at += page_bytes)
            if (in_core[i] & 1)
                return at;
    }
    return end;
}

size_t coil__stack_written(const struct coil__stack *stack)
{
    return (size_t)(stack->high - lowest_resident(stack->low, page_of(stack->high - 1)));
}

/*
 * Return the peak in bytes, which includes pages discarded while the coroutine was
 * suspended.
 */
static uint32_t peak_with(const struct coil__stack *stack, size_t written)
{
    return written > stack->peak ? (uint32_t)written : stack->peak;
}

bool coil__stack_unused(struct coil__stack *stack, const char *sp, struct iovec *unused)
{
    char *end = page_of(sp), *at;

    if (sp < stack->low || sp >= stack->high)
        return false;
    at = lowest_resident(stack->low, end);
    if (at == end)
        return false;
    stack->peak = peak_with(stack, (size_t)(stack->high - at));
    *unused = (struct iovec){at, (size_t)(end - at)};
    return true;
}

ssize_t coil__stack_peak(const struct coil__stack *stack)
{
    pools->measuring = true;
    choose_slab(pools->usual);
    if (coil__stack_is_light(stack))
        return coil__light_peak(stack);
    if (stack->trimmed && stack->exact)
        return (ssize_t)stack->peak;
    return stack->measured ? (ssize_t)peak_with(stack, coil__stack_written(stack))
                           : -EAGAIN;
}

/*
 * A task that ends trims the stack on which it runs, so its frames must be in the top
 * page.
 */
_Static_assert(sizeof(struct canary) + COIL__STACK_BLOCK_BYTES + 64 +
                       COLOUR_COUNT * COLOUR_BYTES + 1024 <=
                   4096,
               "the top's page has room for the frames of an end");

void coil__stack_trim(struct coil__stack *stack)
{
    struct coil__stack_pool *pool;
    char *top = page_of(stack->high - 1);

    if (coil__stack_is_light(stack)) {
        coil__light_trim(stack);
        return;
    }
    pool = stack->slab->pool;
    stack->trimmed = true;
    if (COIL__UNLIKELY(pools->measuring) && stack->measured) {
        size_t written = coil__stack_written(stack);

        stack->peak = peak_with(stack, written);
        stack->dirty = written > (size_t)(stack->high - top);
        stack->exact = true;
    } else if (!stack->dirty) {
        stack->dirty = coil__slot_looks_dirty(top);
    }
    if (!stack->dirty)
        return;
    if (pool->dirty_count >= DIRTY_MAX && !coil__call_fails(EAGAIN, "madvise") &&
        coil__memory_discard(stack->low, (size_t)(top - stack->low)))
        stack->dirty = stack->measured = false;
    pool->dirty_count += stack->dirty;
}

/*
 * True if this code runs on a stack of this slab, as it does when a task that has ended
 * frees its own slot.
 */
static bool is_below(const struct coil__slab *slab)
{
    return (uintptr_t)coil__stack_pointer() - (uintptr_t)slab->base < slab->bytes;
}

static void keep_spare_slab(struct coil__stack_pool *pool, struct coil__slab *slab)
{
    if (pool->empty != NULL)
        pool->empty->kept = false;
    pool->empty = slab;
    slab->kept = true;
}

/*
 * Keep one empty slab. If there are two, unmap the smaller one, but never the slab of the
 * stack on which this code runs.
 */
void coil__stack_slab_is_empty(struct coil__slab *slab)
{
    struct coil__stack_pool *pool = slab->pool;
    struct coil__slab *other = pool->empty;
    bool one_must_go = other != NULL && other->used_count == 0;

    if (one_must_go &&
        (is_below(other) || (other->slot_count > slab->slot_count && !is_below(slab)))) {
        destroy_slab(pool, slab);
    } else {
        keep_spare_slab(pool, slab);
        if (one_must_go)
            destroy_slab(pool, other);
    }
    choose_slab(pool);
}

void coil__stack_release(struct coil__stack *stack)
{
    struct coil__slab *slab;
    struct coil__stack_pool *pool;

    if (coil__stack_is_light(stack)) {
        coil__light_release(stack);
        return;
    }
    slab = stack->slab;
    pool = slab->pool;
    if (!stack->trimmed)
        coil__stack_trim(stack);
    slab->dirty_count += stack->dirty;
    if (pool->open.next != &slab->link) {
        coil__list_remove(&slab->link);
        coil__list_push(pool->open.next, &slab->link);
        choose_slab(pool);
    }
    coil__stack_push(stack);
}

static size_t count_used(const struct coil__list *slabs)
{
    size_t count = 0;

    COIL__LIST_EACH (link, slabs)
        count += COIL__CONTAINER(link, const struct coil__slab, link)->used_count;
    return count;
}

size_t coil__stack_count(void)
{
    size_t count = coil__light_used();

    for (unsigned i = 0; pools != NULL && i < COIL__CLASS_COUNT; i++)
        count +=
            count_used(&pools->by_class[i].open) + count_used(&pools->by_class[i].full);
    return count;
}

/* True if the pool has no slab, or only its first one. */
static bool is_small(const struct coil__stack_pool *pool)
{
    const struct coil__list *first = pool->open.next;

    if (!coil__list_empty(&pool->full))
        return false;
    if (first == &pool->open)
        return true;
    return first->next == &pool->open &&
           COIL__CONTAINER(first, const struct coil__slab, link)->slot_count <=
               COIL__SLOTS_MIN;
}

/* Discard the stack pages that coroutines have written, but keep the control blocks.
   Returns false if the kernel refuses. */
static bool clean_slots(struct coil__stack_pool *pool)
{
    struct coil__stack *stack;

    if (pool->dirty_count == 0)
        return true;
    stack = COIL__CONTAINER(pool->open.next, struct coil__slab, link)->free;
    for (; stack != NULL; stack = stack->next) {
        if (!stack->dirty)
            continue;
        clean(stack);
        if (stack->dirty)
            return false;
        coil__stack_took_dirty(stack);
    }
    return true;
}

void coil__stack_shrink(void)
{
    bool small;

    coil__light_drain();
    if (pools == NULL || coil__stack_count() > 0)
        return;
    small = !pools->measuring && !debugging;
    for (unsigned i = 0; small && i < COIL__CLASS_COUNT; i++)
        small = is_small(&pools->by_class[i]) && clean_slots(&pools->by_class[i]);
    if (!small)
        coil__stack_drain();
}

void coil__stack_drain(void)
{
    coil__light_drain();
    if (pools == NULL || coil__stack_count() > 0)
        return;
    for (unsigned i = 0; i < COIL__CLASS_COUNT; i++) {
        destroy_slabs(&pools->by_class[i], &pools->by_class[i].open);
        destroy_slabs(&pools->by_class[i], &pools->by_class[i].full);
    }
    munmap(pools, sizeof *pools);
    pools = NULL;
    coil__stack_slab = &no_slab;
    pthread_setspecific(exit_key, NULL);
}
