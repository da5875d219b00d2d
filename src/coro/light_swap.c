/*
 * light_swap.c - swaps stacks out while their coroutines wait, and in again.
 *
 * Swapping out copies a stack's live bytes, from the stack pointer to the top, to a cell
 * (store.c). Then the stack's top page becomes a guard (coil__memory_guard()), which
 * frees the page, and the pages below are discarded. Swapping in does the opposite, at
 * the same addresses, so every pointer into the stack stays correct. At most 1 KiB is
 * stored, so the live bytes and the colour are all in the top page.
 *
 * Batches. One system call swaps up to COIL__LIGHT_BATCH stacks out, or up to
 * COIL__LIGHT_AHEAD stacks in. A batch takes a quarter less time than single calls.
 *
 * Stray accesses. If a pointer to a stack that is swapped out is used, the access faults.
 * The handler of SIGSEGV finds the stack with light_table.c and swaps it in. The cell is
 * freed later, because the handler may have interrupted a function of store.c.
 */
#include "light_slab.h"

#include "../base/line.h"
#include "../kernel/thread.h"
#include "../kernel/memory.h"
#include "coroutine.h"
#include "sanitizer.h"

#include <pthread.h>
#include <stdatomic.h>

const struct coil__light_owner *coil__light_owner;

const char *coil__light_off(void)
{
    if (coil__on_valgrind())
        return "Valgrind";
    if (!coil__overflow_watched())
        return "SIGSEGV is not coil's";
    if (coil__stack_set_up() < 0 || coil__stack_guard != COIL__GUARD_MADVISE)
        return "no guard pages";
    if (coil__light != NULL && coil__light->refused)
        return "guard pages are refused";
    return NULL;
}

/* ---- out --------------------------------------------------------------------------- */

/* Copy words, including ASan's red zones, which ASan does not allow memcpy(3) to read. */
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

void coil__light_set_resident(struct coil__stack *stack, bool is)
{
    unsigned char *flag = &stack->light_slab->flags[coil__light_number_of(stack)];

    coil__light->resident_count -= *flag == COIL__LIGHT_PAGE;
    coil__light->resident_count += is;
    *flag = is ? COIL__LIGHT_PAGE : COIL__LIGHT_NO_PAGE;
    if (is)
        coil__light->latest[coil__light->latest_next++ % COIL__LIGHT_SAMPLE] = stack;
}

bool coil__light_store_bytes(struct coil__stack *stack, const char *sp)
{
    char *top = coil__light_top(stack);
    size_t bytes;
    void *cell;

    sp = (const char *)((uintptr_t)sp & ~(COIL__STORE_STEP - 1));
    bytes = (size_t)(top - sp);
    if (bytes > COIL__STORE_MAX || bytes == 0 || !coil__stack_guarded(stack))
        return false;
    cell = coil__store_take(&coil__light->store, bytes);
    if (cell == NULL)
        return false;
    copy_raw(cell, sp, bytes);
    stack->cell = cell;
    stack->stored_steps = (uint8_t)(bytes / COIL__STORE_STEP);
    stack->state = COIL__LIGHT_STORED;
    return true;
}

/* Undo the swapping out of a stack whose page could not be made a guard. */
static void keep_resident(struct coil__stack *stack)
{
    coil__store_give(&coil__light->store, stack->cell);
    stack->state = COIL__LIGHT_RESIDENT;
    coil__light->refused |=
        errno == EINVAL; /* the memory is locked; other errors may be temporary */
}

/*
 * Update the stack's peak before pages are discarded. Stacks are measured only after
 * coil__stack_peak() was called once.
 */
static void remember_peak(struct coil__stack *stack)
{
    if (COIL__UNLIKELY(coil__stack_measuring()) && stack->measured) {
        uint32_t peak = (uint32_t)coil__stack_written(stack);

        stack->light_peak = peak > stack->light_peak ? peak : stack->light_peak;
    } else {
        stack->measured = false;
    }
}

void coil__light_free_pages(size_t n)
{
    size_t done;

    for (size_t i = 0; i < n; i++) {
        struct coil__stack *stack = coil__light->going[i];

        remember_peak(stack);
        coil__light->pages[i] =
            (struct iovec){coil__light_top_page(stack), coil__light_page_bytes};
        coil__light->below[i] = (struct iovec){
            stack->low, (size_t)(coil__light_top_page(stack) - stack->low)};
    }
    done = coil__memory_guard_all(coil__light->pages, n);
    coil__memory_discard_all(coil__light->below, done);
    for (size_t i = 0; i < done; i++) {
        coil__light->stored_count++;
        coil__light->going[i]->dirty = false;
        coil__light_set_resident(coil__light->going[i], false);
        coil__light_owner->swapped_out(coil__light->going[i]);
    }
    for (size_t i = done; i < n; i++)
        keep_resident(coil__light->going[i]);
}

bool coil__light_swap_out(struct coil__stack *stack, const char *sp)
{
    int saved = errno;

    if (stack->state == COIL__LIGHT_COMING)
        coil__light_settle(stack);
    if (stack->state != COIL__LIGHT_RESIDENT || coil__light->refused ||
        !coil__light_store_bytes(stack, sp))
        return false;
    coil__light->going[0] = stack;
    coil__light_free_pages(1);
    errno = saved;
    return stack->state == COIL__LIGHT_STORED;
}

/*
 * Copy the bytes back. Called after the guard was removed. Removing a guard cannot fail,
 * because this only changes the page's entry in the page table.
 */
static void put_bytes_back(struct coil__stack *stack)
{
    size_t bytes = stored_bytes(stack);

    copy_raw(coil__light_top(stack) - bytes, stack->cell, bytes);
    stack->state = COIL__LIGHT_COMING;
}

void coil__light_settle(struct coil__stack *stack)
{
    coil__store_give(&coil__light->store, stack->cell);
    stack->cell = NULL;
    stack->stored_steps = 0;
    stack->state = COIL__LIGHT_RESIDENT;
    coil__light->stored_count--;
    coil__light_set_resident(stack, true);
}

void coil__light_drop_stored(struct coil__stack *stack)
{
    if (stack->state == COIL__LIGHT_COMING)
        coil__light_settle(stack);
    if (stack->state != COIL__LIGHT_STORED)
        return;
    coil__memory_unguard(coil__light_top_page(stack), coil__light_page_bytes);
    coil__store_give(&coil__light->store, stack->cell);
    coil__light->stored_count--;
}

/* ---- in ---------------------------------------------------------------------------- */

void coil__light_swap_in_all(struct coil__stack *const *stacks, size_t n)
{
    struct iovec pages[COIL__LIGHT_AHEAD];
    size_t count = 0;
    int saved = errno;

    coil__light_make_room(n);
    for (size_t i = 0; i < n; i++)
        if (stacks[i]->state == COIL__LIGHT_STORED)
            pages[count++] =
                (struct iovec){coil__light_top_page(stacks[i]), coil__light_page_bytes};
    coil__memory_unguard_all(pages, count);
    for (size_t i = 0; i < n; i++) {
        if (stacks[i]->state == COIL__LIGHT_STORED)
            put_bytes_back(stacks[i]);
        if (stacks[i]->state == COIL__LIGHT_COMING)
            coil__light_settle(stacks[i]);
    }
    errno = saved;
}

void coil__light_swap_in(struct coil__stack *stack)
{
    if (stack->state >= COIL__LIGHT_STORED)
        coil__light_swap_in_all(&stack, 1);
}

void coil__light_touch(struct coil__stack *stack)
{
    coil__light_swap_in(stack);
    if (stack->state != COIL__LIGHT_EMPTY)
        return;
    coil__light_make_room(1);
    stack->state = COIL__LIGHT_RESIDENT;
    coil__light_set_resident(stack, true);
}

/* ---- strays ------------------------------------------------------------------------ */

/* Return the stack whose top page contains the address, if that stack is swapped out. */
static struct coil__stack *find_stored(const struct coil__light_slab *slab,
                                       const char *address)
{
    size_t i = (size_t)(address - slab->slots) / slab->slot_bytes;
    struct coil__stack *stack = coil__light_stack_of(&slab->records[i]);

    if (stack->state != COIL__LIGHT_STORED ||
        coil__light_page_of(address) != coil__light_top_page(stack))
        return NULL;
    return stack;
}

bool coil__light_fault(const char *address)
{
    struct coil__light_entry *entry = coil__light_find(address);
    struct coil__light_slab *slab = entry != NULL ? atomic_load(&entry->slab) : NULL;
    struct coil__stack *stack = slab != NULL ? find_stored(slab, address) : NULL;
    int saved = errno;

    if (stack == NULL)
        return false;
    if (entry->owner != &coil__coro_thread) {
        coil__line_print(
            "coil: thread %zu touched the stack of %s, which is swapped out; "
            "a light task's stack is its own thread's\n",
            (size_t)coil__thread_id(),
            coil__coro_label(COIL__CONTAINER(stack, coil__coro, stack)));
        return false;
    }
    coil__memory_unguard(coil__light_top_page(stack), coil__light_page_bytes);
    put_bytes_back(stack);
    slab->flags[coil__light_number_of(stack)] = COIL__LIGHT_CAME;
    coil__light->some_came = true;
    errno = saved;
    return true;
}
