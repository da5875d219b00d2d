/*
 * stack.c - slots for stacks, cut from slabs.
 *
 * A slab is one mapping of many slots, committed page by page as they are touched:
 *
 *     | page | slot 0 | slot 1 | ... | slot n-1 | struct slab |
 *     each slot: | guard | stack ... | control block | colour | struct slot_end |
 *
 * Each thread has one pool per size class, a power of two from 16 KiB to 1 GiB. A pool's
 * slabs grow geometrically, 16 slots to 4096, so that a million stacks take a few hundred
 * mappings; neighbouring slabs are even merged by the kernel. A slot freed last is used
 * first: its top page is in the cache. A slab that becomes empty is unmapped unless it is
 * the pool's only empty one, so memory goes back after a peak, and a program that swings
 * around a slab's edge does not map and unmap.
 *
 * Invariants
 * 1. A slot that was never used has not been touched. Lower slots of a slab are used
 *    first, so the slot below one in use was in use before.
 * 2. What a used slot remembers (slab, guard, next) lies at its highest bytes, in the
 *    page of the control block, which is never given back alone.
 * 3. pool.dirty_count counts the slots whose body has returned and that kept their
 *    pages, slab.dirty_count those of them that are free.
 *
 * Colours. If all control blocks lay at the same distance from their slot's end, the tops
 * of all stacks would share a few sets of the cache, which holds a dozen of them. So each
 * lies lower by one of 16 multiples of a cache line, chosen by the slot's address; it
 * remains in the page. (Zen: gathering 100 tasks 105 ns each without, 76 with; a yield
 * among two tasks 12.2 and 9.5.)
 *
 * For the same reason a slot is one page longer than the power of two that was asked for:
 * else the tops of all stacks would also share a few sets of the TLB, and each look at
 * one would be a walk through the page tables. (Zen 5, 1,000 stacks of 128 KiB in turn:
 * 21 ns a look at multiples of 128 KiB, 5 at multiples of 132. An echo server with so
 * many connections: 2 to 4 % of a request.)
 *
 * Guards. MADV_GUARD_INSTALL makes pages fault without splitting the mapping. It is
 * called when a slot is first used, never again: the guard survives reuse and
 * MADV_DONTNEED. Older kernels (and locked memory, mlockall(2), before 6.15) refuse:
 * then one page per slot is mprotect()ed, which costs two mappings each, up to a quarter
 * of vm.max_map_count. After that an overflow is seen only when the coroutine is
 * left: by the stack pointer, or because the highest bytes of the slot below, which it
 * runs into first, are no longer the canary.
 *
 * Trimming. A returned body leaves pages behind that would stay resident in the pool.
 * Asking the kernel costs more than a spawn, so the second page is probed: in a slot
 * that was clean it is untouched or all zero, and frames that reached it left return
 * addresses there. 31 words are read; a frame that spans the page without writing any of
 * them goes unnoticed until a later body does. A dirty slot is given back below the
 * control block's page, unless fewer than DIRTY_MAX lie in the pool: those are kept as
 * they are, since the next body will probably go as deep.
 */
#include "stack.h"

#include "../base/fault.h"
#include "../base/kernel.h"
#include "sanitizer.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <coil/coro.h>

#define CLASS_MIN 14
#define CLASS_MAX 30
#define CLASS_COUNT (CLASS_MAX - CLASS_MIN + 1)

#define SLOTS_MIN ((size_t)16)
#define SLOTS_MAX ((size_t)4096)
#define SLAB_BYTES_MAX ((size_t)1 << 30)

#define GUARD_BYTES_MAX ((size_t)16 * 1024)
#define DIRTY_MAX 64
#define COLOUR_COUNT 16
#define COLOUR_BYTES 64
#define CANARY UINT64_C(0x9d5ac0117ac1e5f3)

struct slab {
    struct coil__list link; /* pool.open or pool.full */
    char *base;
    size_t bytes;
    struct slot_end *free;
    unsigned slot_count;
    unsigned fresh; /* slots from this one on were never used */
    unsigned used_count;
    unsigned dirty_count;
    unsigned mprotect_count;
};

/* The highest bytes of a slot that is or was in use. */
struct slot_end {
    struct slab *slab;
    struct slot_end *next; /* slab.free */
    uint32_t guard_bytes;
    bool guarded;
    bool dirty;
    uint64_t canary[2];
};

struct pool {
    struct coil__list open; /* slabs with room, the one freed into last first */
    struct coil__list full;
    struct slab *empty; /* the one slab kept though nothing in it is used */
    size_t next_slot_count;
    unsigned dirty_count;
    uint8_t size_class;
};

struct pools {
    size_t used_count;
    struct pool by_class[CLASS_COUNT];
};

enum coil__guard coil__stack_guard = COIL__GUARD_MADVISE;

static COIL__THREAD_LOCAL struct pools *pools;

static size_t page_bytes;
static atomic_long mprotect_budget;
static pthread_key_t exit_key;
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;

/* ---- once per process, once per thread --------------------------------------------- */

static void *map(size_t bytes)
{
    void *base;

    if (coil__call_fails(ENOMEM, "mmap"))
        return NULL;
    base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    return base != MAP_FAILED ? base : NULL;
}

/* A quarter of the mappings the kernel allows, at two for each guard. */
static long read_mprotect_budget(void)
{
    char text[32];
    int fd = COIL__CALL(ENOENT, open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC));
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 65530 / 8;
    text[n] = '\0';
    return atol(text) / 8;
}

/*
 * Whether pages can be guarded by madvise: asked once, of a page of our own. Emulators
 * (qemu-user) say yes to any advice and do nothing, so the page is read by the kernel:
 * nanosleep(2) of the zeros in it returns at once, of a guard it is EFAULT.
 */
static bool can_guard_by_madvise(void)
{
    void *page = map(page_bytes);
    bool can;

    if (page == NULL)
        return false;
    can = COIL__CALL(EINVAL, madvise(page, page_bytes, MADV_GUARD_INSTALL)) == 0 &&
          nanosleep(page, NULL) != 0 && errno == EFAULT;
    munmap(page, page_bytes);
    return can;
}

static void drain_at_exit(void *ours)
{
    (void)ours;
    coil__stack_drain();
}

static void set_up(void)
{
    int saved = errno;

    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    atomic_store(&mprotect_budget, read_mprotect_budget());
    if (coil__stack_guard == COIL__GUARD_MADVISE && !can_guard_by_madvise())
        coil__stack_guard = COIL__GUARD_MPROTECT;
    pthread_key_create(&exit_key, drain_at_exit);
    errno = saved;
}

static int create_pools(void)
{
    struct pools *created;

    pthread_once(&set_up_once, set_up);
    created = map(sizeof *created);
    if (created == NULL)
        return -ENOMEM;
    if (pthread_setspecific(exit_key, created) != 0) {
        munmap(created, sizeof *created);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        struct pool *pool = &created->by_class[i];

        coil__list_init(&pool->open);
        coil__list_init(&pool->full);
        pool->next_slot_count = SLOTS_MIN;
        pool->size_class = (uint8_t)(CLASS_MIN + i);
    }
    pools = created;
    return 0;
}

/* ---- slabs ------------------------------------------------------------------------- */

static size_t slot_bytes(unsigned size_class)
{
    return ((size_t)1 << size_class) + page_bytes;
}

/* Smaller and smaller, before giving up: address space may be short, or limited. */
static char *map_slab(const struct pool *pool, size_t *slot_count, size_t *bytes)
{
    size_t count = pool->next_slot_count;

    while (count > 1 && count * slot_bytes(pool->size_class) > SLAB_BYTES_MAX)
        count /= 2;
    for (; count > 0; count /= 2) {
        char *base;

        *slot_count = count;
        *bytes = count * slot_bytes(pool->size_class) + 2 * page_bytes;
        base = map(*bytes);
        if (base != NULL)
            return base;
    }
    return NULL;
}

static void write_canary(char *end)
{
    struct slot_end *slot = (struct slot_end *)end - 1;

    slot->canary[0] = slot->canary[1] = CANARY;
}

static struct slab *create_slab(struct pool *pool)
{
    size_t slot_count, bytes;
    char *base = map_slab(pool, &slot_count, &bytes);
    struct slab *slab;

    if (base == NULL)
        return NULL;
    /* A huge page would commit many stacks at once. Kernels without them say EINVAL. */
    madvise(base, bytes, MADV_NOHUGEPAGE);
    slab = (struct slab *)(base + bytes - page_bytes);
    slab->base = base;
    slab->bytes = bytes;
    slab->slot_count = (unsigned)slot_count;
    write_canary(base + page_bytes);
    coil__list_push(&pool->open, &slab->link);
    if (pool->next_slot_count < SLOTS_MAX)
        pool->next_slot_count *= 2;
    return slab;
}

static void destroy_slab(struct pool *pool, struct slab *slab)
{
    coil__list_remove(&slab->link);
    pool->dirty_count -= slab->dirty_count;
    atomic_fetch_add(&mprotect_budget, slab->mprotect_count);
    coil__asan_unpoison(slab->base, slab->bytes);
    munmap(slab->base, slab->bytes);
}

static void destroy_slabs(struct pool *pool, struct coil__list *slabs)
{
    while (!coil__list_empty(slabs))
        destroy_slab(pool, COIL__CONTAINER(slabs->next, struct slab, link));
}

/* ---- guards ------------------------------------------------------------------------ */

static size_t guard_bytes(const struct pool *pool)
{
    size_t bytes = ((size_t)1 << pool->size_class) / 8;

    if (bytes > GUARD_BYTES_MAX)
        bytes = GUARD_BYTES_MAX;
    return bytes > page_bytes ? bytes : page_bytes;
}

static bool install_mprotect(struct slab *slab, char *slot)
{
    if (atomic_fetch_sub(&mprotect_budget, 1) <= 0)
        goto refused;
    if (COIL__CALL(ENOMEM, mprotect(slot, page_bytes, PROT_NONE)) != 0)
        goto refused;
    slab->mprotect_count++;
    return true;
refused:
    atomic_fetch_add(&mprotect_budget, 1);
    return false;
}

static void install_guard(const struct pool *pool, struct slot_end *end, char *slot)
{
    int saved = errno;

    end->guard_bytes = (uint32_t)guard_bytes(pool);
    if (coil__stack_guard == COIL__GUARD_MADVISE)
        end->guarded =
            COIL__CALL(ENOMEM, madvise(slot, end->guard_bytes, MADV_GUARD_INSTALL)) == 0;
    if (!end->guarded && coil__stack_guard != COIL__GUARD_CHECK) {
        end->guard_bytes = (uint32_t)page_bytes;
        end->guarded = install_mprotect(end->slab, slot);
    }
    errno = saved;
}

bool coil__stack_check(const struct coil__stack *stack, const void *sp)
{
    const struct slot_end *below = (struct slot_end *)stack->slot - 1;

    return (const char *)sp >= stack->low && below->canary[0] == CANARY &&
           below->canary[1] == CANARY;
}

/* ---- taking slots ------------------------------------------------------------------ */

static struct slot_end *end_of(const struct coil__stack *stack)
{
    return (struct slot_end *)(stack->slot + slot_bytes(stack->size_class)) - 1;
}

static struct slot_end *take_fresh(const struct pool *pool, struct slab *slab)
{
    char *slot = slab->base + page_bytes + slab->fresh++ * slot_bytes(pool->size_class);
    char *high = slot + slot_bytes(pool->size_class);
    struct slot_end *end = (struct slot_end *)high - 1;

    end->slab = slab;
    install_guard(pool, end, slot);
    write_canary(high);
    return end;
}

static struct slot_end *take_freed(struct pool *pool, struct slab *slab)
{
    struct slot_end *end = slab->free;

    slab->free = end->next;
    slab->dirty_count -= end->dirty;
    pool->dirty_count -= end->dirty;
    return end;
}

static struct slot_end *take_slot(struct pool *pool)
{
    struct slab *slab = COIL__CONTAINER(pool->open.next, struct slab, link);
    struct slot_end *end;

    if (COIL__UNLIKELY(coil__list_empty(&pool->open))) {
        slab = create_slab(pool);
        if (slab == NULL)
            return NULL;
    }
    end = slab->free != NULL ? take_freed(pool, slab) : take_fresh(pool, slab);
    if (slab == pool->empty)
        pool->empty = NULL;
    if (COIL__UNLIKELY(++slab->used_count == slab->slot_count)) {
        coil__list_remove(&slab->link);
        coil__list_push(&pool->full, &slab->link);
    }
    return end;
}

/* The smallest class that holds it; NULL if none does. */
static struct pool *pool_for(size_t stack_bytes)
{
    size_t bytes = stack_bytes != 0 ? stack_bytes : COIL_STACK_BYTES;
    int size_class = CLASS_MIN;

    if (bytes > (size_t)1 << CLASS_MAX)
        return NULL;
    if (bytes < 4 * page_bytes)
        bytes = 4 * page_bytes; /* pages of 64 KiB: a guard, and room above it */
    if (bytes > (size_t)1 << CLASS_MIN)
        size_class = 64 - __builtin_clzll(bytes - 1);
    return &pools->by_class[size_class - CLASS_MIN];
}

/* See the head of this file. */
static size_t colour_bytes(const char *slot, unsigned size_class)
{
    return ((uintptr_t)slot >> size_class) % COLOUR_COUNT * COLOUR_BYTES;
}

/*
 * The description is written where it stays: to copy what was just written in pieces
 * stalls the processor, at a tenth of a spawn.
 */
int coil__stack_acquire(size_t stack_bytes, size_t control_bytes,
                        struct coil__stack **out)
{
    struct coil__stack *stack;
    struct slot_end *end;
    struct pool *pool;
    char *slot, *low, *block;

    if (COIL__UNLIKELY(pools == NULL) && create_pools() < 0)
        return -ENOMEM;
    pool = pool_for(stack_bytes);
    if (pool == NULL || control_bytes > ((size_t)1 << CLASS_MIN) / 4)
        return -EINVAL;
    end = take_slot(pool);
    if (end == NULL)
        return -ENOMEM;
    pools->used_count++;
    slot = (char *)(end + 1) - slot_bytes(pool->size_class);
    low = slot + end->guard_bytes;
    block = (char *)end - control_bytes;
    block -= (uintptr_t)block & 63;
    block -= colour_bytes(slot, pool->size_class);
    coil__asan_unpoison(low, (size_t)((char *)end - low));
    memset(block, 0, control_bytes);
    stack = (struct coil__stack *)(void *)block;
    stack->low = low;
    stack->high = block;
    stack->slot = slot;
    stack->size_class = pool->size_class;
    stack->guarded = end->guarded;
    stack->dirty = end->dirty;
    *out = stack;
    return 0;
}

/* ---- giving them back -------------------------------------------------------------- */

static char *page_of(const char *p)
{
    return (char *)((uintptr_t)p & ~(uintptr_t)(page_bytes - 1));
}

/* Whether the page that ends at `top` holds anything, as far as a few words tell. */
COIL__NO_SANITIZE static bool looks_dirty(const char *top)
{
    const uint64_t *word = (const uint64_t *)(const void *)top;
    uint64_t bits = 0;

    for (int i = 1; i <= 16; i++)
        bits |= word[-i];
    for (int i = 1; i <= 15; i++)
        bits |= word[-i * 32 - 1];
    return bits != 0;
}

void coil__stack_trim(struct coil__stack *stack)
{
    struct pool *pool = &pools->by_class[stack->size_class - CLASS_MIN];
    char *top = page_of(stack->high - 1);

    stack->trimmed = true;
    if (!stack->dirty) {
        if (coil__on_valgrind() || !looks_dirty(top))
            return;
        stack->dirty = true;
    }
    if (pool->dirty_count >= DIRTY_MAX &&
        COIL__CALL(EAGAIN,
                   madvise(stack->low, (size_t)(top - stack->low), MADV_DONTNEED)) == 0)
        stack->dirty = false;
    pool->dirty_count += stack->dirty;
}

static void slab_became_empty(struct pool *pool, struct slab *slab)
{
    struct slab *other = pool->empty;

    pool->empty = slab;
    if (other == NULL)
        return;
    if (other->slot_count > slab->slot_count) {
        pool->empty = other;
        other = slab;
    }
    destroy_slab(pool, other);
}

void coil__stack_release(struct coil__stack *stack)
{
    struct pool *pool = &pools->by_class[stack->size_class - CLASS_MIN];
    struct slot_end *end = end_of(stack);
    struct slab *slab = end->slab;

    if (!stack->trimmed)
        coil__stack_trim(stack);
    end->dirty = stack->dirty;
    end->next = slab->free;
    slab->free = end;
    slab->dirty_count += end->dirty;
    pools->used_count--;
    slab->used_count--;
    if (COIL__UNLIKELY(pool->open.next != &slab->link)) {
        coil__list_remove(&slab->link);
        coil__list_push(pool->open.next, &slab->link);
    }
    if (COIL__UNLIKELY(slab->used_count == 0))
        slab_became_empty(pool, slab);
}

size_t coil__stack_count(void)
{
    return pools != NULL ? pools->used_count : 0;
}

void coil__stack_drain(void)
{
    if (pools == NULL || pools->used_count > 0)
        return;
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        destroy_slabs(&pools->by_class[i], &pools->by_class[i].open);
        destroy_slabs(&pools->by_class[i], &pools->by_class[i].full);
    }
    munmap(pools, sizeof *pools);
    pools = NULL;
    pthread_setspecific(exit_key, NULL);
}
