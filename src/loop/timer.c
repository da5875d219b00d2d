/*
 * timer.c - what is to happen later: a 4-ary heap.
 *
 * Four children a node halve the depth of a binary heap, and all four lie in one cache
 * line, since an entry is a deadline and a pointer. A timer knows its index, so that
 * cancelling removes it at once: there are no cancelled timers to carry along or to clean
 * up, as asyncio has.
 *
 * Equal deadlines go first in, first out, by a sequence number, which lies where the link
 * is while the timer is in no list: a timer takes no more memory than the watcher of
 * libev, and memory touched is most of what arming a million of them takes.
 */
#include "loop.h"

#include <coil/timer.h>

#define FIRST_CAPACITY 64

static bool earlier(const struct coil__timer_entry *a, const struct coil__timer_entry *b)
{
    if (a->when != b->when)
        return a->when < b->when;
    return a->timer->sequence < b->timer->sequence;
}

static void place(struct coil__timer_heap *heap, size_t index,
                  struct coil__timer_entry entry)
{
    heap->entries[index] = entry;
    entry.timer->index = index;
}

static void sift_up(struct coil__timer_heap *heap, size_t index,
                    struct coil__timer_entry entry)
{
    while (index > 0) {
        size_t parent = (index - 1) / 4;

        if (!earlier(&entry, &heap->entries[parent]))
            break;
        place(heap, index, heap->entries[parent]);
        index = parent;
    }
    place(heap, index, entry);
}

static size_t earliest_child(const struct coil__timer_heap *heap, size_t index)
{
    size_t first = 4 * index + 1, best = first;
    size_t end = first + 4 < heap->count ? first + 4 : heap->count;

    for (size_t child = first + 1; child < end; child++)
        if (earlier(&heap->entries[child], &heap->entries[best]))
            best = child;
    return best;
}

/* Not inline: alone it keeps everything in registers, which is a tenth of firing. */
static COIL__NOINLINE void sift_down(struct coil__timer_heap *heap, size_t index,
                                     struct coil__timer_entry entry)
{
    while (4 * index + 1 < heap->count) {
        size_t child = earliest_child(heap, index);

        if (!earlier(&heap->entries[child], &entry))
            break;
        place(heap, index, heap->entries[child]);
        index = child;
    }
    place(heap, index, entry);
}

static void take_out(struct coil__timer_heap *heap, struct coil__timer *timer)
{
    size_t index = timer->index;
    struct coil__timer_entry last = heap->entries[--heap->count];

    timer->index = COIL__TIMER_IDLE;
    coil__list_init(&timer->runnable.link);
    if (index == heap->count)
        return;
    if (index > 0 && earlier(&last, &heap->entries[(index - 1) / 4]))
        sift_up(heap, index, last);
    else
        sift_down(heap, index, last);
}

static COIL__NOINLINE int grow(struct coil__timer_heap *heap)
{
    size_t capacity = heap->capacity == 0 ? FIRST_CAPACITY : 2 * heap->capacity;
    void *entries;

    entries = coil__realloc(heap->entries, capacity * sizeof *heap->entries);
    if (entries == NULL)
        return -ENOMEM;
    heap->entries = entries;
    heap->capacity = capacity;
    return 0;
}

void coil__timer_init(struct coil__timer *timer, void (*run)(struct coil__runnable *))
{
    coil__runnable_init(&timer->runnable, run);
    timer->index = COIL__TIMER_IDLE;
}

int coil__timer_start(coil_loop *loop, struct coil__timer *timer, int64_t when)
{
    struct coil__timer_heap *heap = &loop->timers;

    if (COIL__UNLIKELY(heap->count == heap->capacity)) {
        int rc = grow(heap);

        if (rc < 0)
            return rc;
    }
    timer->sequence = heap->next_sequence++;
    sift_up(heap, heap->count++, (struct coil__timer_entry){when, timer});
    return 0;
}

void coil__timer_stop(coil_loop *loop, struct coil__timer *timer)
{
    if (timer->index != COIL__TIMER_IDLE)
        take_out(&loop->timers, timer);
    else
        coil__list_remove(&timer->runnable.link);
}

void coil__timers_expire(coil_loop *loop, int64_t now)
{
    struct coil__timer_heap *heap = &loop->timers;

    while (heap->count > 0 && heap->entries[0].when <= now) {
        struct coil__timer *timer = heap->entries[0].timer;

        take_out(heap, timer);
        coil__loop_add_ready(loop, &timer->runnable);
    }
}

/* ---- coil/timer.h ------------------------------------------------------------------ */

struct timer {
    struct coil__timer timer;
    coil_callback fn;
    void *arg;
};

_Static_assert(sizeof(struct timer) == sizeof(coil_timer), "coil_timer has another size");

static struct timer *inside(const coil_timer *timer)
{
    return (struct timer *)timer;
}

/* It is in no list any more: what it calls may free it. */
static void call(struct coil__runnable *runnable)
{
    struct timer *t = COIL__CONTAINER(runnable, struct timer, timer.runnable);

    coil__loop_calls(coil__loop_of_thread, (const void *)t->fn, NULL);
    if (!coil__loop_of_thread->closing)
        t->fn(t->arg);
}

void coil_timer_init(coil_timer *timer, coil_callback fn, void *arg)
{
    struct timer *t = inside(timer);

    coil__timer_init(&t->timer, call);
    t->fn = fn;
    t->arg = arg;
}

bool coil_timer_started(const coil_timer *timer)
{
    const struct coil__timer *t = &inside(timer)->timer;

    return t->index != COIL__TIMER_IDLE || !coil__list_empty(&t->runnable.link);
}

int coil_timer_start(coil_timer *timer, int64_t deadline)
{
    coil_loop *loop = coil__loop_require("coil_timer_start");
    struct timer *t = inside(timer);

    if (COIL__UNLIKELY(coil_timer_started(timer)))
        coil__timer_stop(loop, &t->timer);
    return coil__timer_start(loop, &t->timer, deadline);
}

void coil_timer_stop(coil_timer *timer)
{
    if (coil_timer_started(timer))
        coil__timer_stop(coil__loop_require("coil_timer_stop"), &inside(timer)->timer);
}
