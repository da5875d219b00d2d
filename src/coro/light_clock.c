/*
 * light_clock.c - limits the number of resident light stacks with a clock algorithm,
 * which chooses the stacks to swap out.
 *
 * `resident_count` is the number of top pages that have memory, both of stacks in use and
 * of free slots. slab.flags has one byte for each slot. Before another page is touched,
 * the count is compared with the cap. At the cap, the clock's hand moves over the flags,
 * and a batch of stacks is swapped out. If too few stacks can be swapped out, because
 * most tasks are running, ready or pinned, the next check takes place only when the count
 * has grown by an eighth of the cap, or when the loop becomes idle.
 *
 * A task that has used much of its stack also has resident pages below the top page,
 * which are not counted. So after every 512 pages, mincore(2) measures some of the stacks
 * touched last, and the cap is divided by the average number of pages per stack.
 */
#include "light_slab.h"

#include "../kernel/memory.h"
#include "coroutine.h"

#include <string.h>

static struct coil__light_slab *slab_after(struct coil__light_slab *slab)
{
    struct coil__list *next =
        slab != NULL ? slab->all_link.next : coil__light->slabs.next;

    if (next == &coil__light->slabs)
        next = next->next;
    return next != &coil__light->slabs
               ? COIL__CONTAINER(next, struct coil__light_slab, all_link)
               : NULL;
}

/*
 * Add the pages of a stack without live bytes to the pages to discard. Such a stack needs
 * neither a guard nor a cell.
 */
static void add_idle_page(struct coil__stack *stack, size_t *count)
{
    coil__light->below[(*count)++] = (struct iovec){stack->low, coil__stack_bytes(stack)};
    if (stack->state == COIL__LIGHT_RESIDENT)
        stack->state = COIL__LIGHT_EMPTY;
    else
        coil__light->dirty_count -= stack->dirty;
    stack->dirty = false;
    coil__light_set_resident(stack, false);
}

/* Add the stack, whose top page has memory, to the batch if it may be swapped out. */
static void add_if_idle(struct coil__stack *stack, int64_t since, size_t *idle_count)
{
    const char *sp;

    if (coil__light_is_below(stack->low, coil__stack_bytes(stack)))
        return;
    if (stack->state == COIL__LIGHT_FREE) {
        add_idle_page(stack, idle_count);
        return;
    }
    if (stack->state != COIL__LIGHT_RESIDENT) /* already in this batch */
        return;
    sp = coil__light_owner->lowest_live(stack, since);
    if (sp == NULL)
        return;
    if (sp == coil__light_top(stack))
        add_idle_page(stack, idle_count);
    else if (coil__light_store_bytes(stack, sp))
        coil__light->going[coil__light->going_count++] = stack;
}

/* Count the stacks that the handler of SIGSEGV has swapped in since the last call. */
static COIL__NOINLINE void settle_swapped_in(void)
{
    coil__light->some_came = false;
    COIL__LIST_EACH (link, &coil__light->slabs) {
        struct coil__light_slab *slab =
            COIL__CONTAINER(link, struct coil__light_slab, all_link);
        unsigned char *flag = slab->flags, *end = flag + slab->fresh;

        while ((flag = memchr(flag, COIL__LIGHT_CAME, (size_t)(end - flag))) != NULL)
            coil__light_settle(
                coil__light_stack_of(&slab->records[flag++ - slab->flags]));
    }
}

/*
 * Move the hand over the flags until a batch is full or the hand has passed all slots
 * once. Swap out the stacks whose coroutines began to wait at `since` or earlier. Returns
 * the number of pages freed.
 */
static size_t sweep_flags(int64_t since)
{
    struct coil__light_slab *slab = coil__light->hand != NULL ? coil__light->hand
                                                              : slab_after(NULL),
                            *first = slab;
    unsigned at = coil__light->hand != NULL ? coil__light->hand_slot : 0;
    size_t idle_count = 0, before = coil__light->resident_count;
    bool round = false;
    int saved = errno;

    if (slab == NULL || coil__light->refused || !coil__overflow_is_ours())
        return 0;
    if (coil__light->some_came)
        settle_swapped_in();
    coil__light->going_count = 0;
    while (coil__light->going_count < COIL__LIGHT_BATCH &&
           idle_count < COIL__LIGHT_BATCH) {
        unsigned char *flag =
            memchr(slab->flags + at, COIL__LIGHT_PAGE, slab->fresh - at);

        if (flag != NULL) {
            at = (unsigned)(flag - slab->flags);
            add_if_idle(coil__light_stack_of(&slab->records[at++]), since, &idle_count);
            continue;
        }
        if (round && slab == first)
            break;
        slab = slab_after(slab);
        round = true;
        at = 0;
    }
    coil__light->hand = slab;
    coil__light->hand_slot = at;
    coil__memory_discard_all(coil__light->below, idle_count);
    coil__light_free_pages(coil__light->going_count);
    errno = saved;
    return before - coil__light->resident_count;
}

/*
 * Estimate the number of resident pages per stack from the stacks touched last. Only top
 * pages are counted, so the cap must be divided by this number.
 */
static void sample_depth(void)
{
    size_t pages = 0, count = 0, depth;

    for (size_t i = 0; i < COIL__LIGHT_SAMPLE; i++) {
        const struct coil__stack *stack = coil__light->latest[i];

        if (stack == NULL || stack->state != COIL__LIGHT_RESIDENT)
            continue;
        pages += (coil__stack_written(stack) + coil__light_page_bytes - 1) /
                 coil__light_page_bytes;
        count++;
    }
    depth = count > 0 ? (pages + count - 1) / count : 1;
    coil__light->depth =
        depth > coil__light->depth ? depth : (3 * coil__light->depth + depth) / 4;
}

COIL__NOINLINE void coil__light_make_room_now(size_t n)
{
    size_t most;

    sample_depth();
    most = coil__light->cap / coil__light->depth;
    if (coil__light->resident_count + n > most)
        sweep_flags(INT64_MAX);
    coil__light->next_check = coil__light->resident_count + n;
    coil__light->next_check +=
        coil__light->next_check > most ? most / 8 + 1 : COIL__LIGHT_BATCH;
    if (coil__light->resident_count + n <= most && coil__light->next_check > most)
        coil__light->next_check = most;
}

void coil__light_idle(int64_t now)
{
    if (COIL__LIKELY(coil__light == NULL) || coil__light->resident_count == 0 ||
        now - coil__light->aged_at < coil__light->age_ns / 4)
        return;
    coil__light->next_check = 0;
    if (sweep_flags(now - coil__light->age_ns) < COIL__LIGHT_BATCH)
        /* after a full batch, continue in the loop's next idle iteration */
        coil__light->aged_at = now;
}
