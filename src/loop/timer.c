/*
 * timer.c - what is to happen later: a 4-ary heap.
 *
 * Four children a node halve the depth of a binary heap, and all four lie in one cache
 * line, since an entry is a deadline and a pointer. A timer knows its index, so that
 * cancelling removes it at once: there are no cancelled timers to carry along or to clean
 * up, as asyncio has.
 *
 * Equal deadlines go first in, first out, by a sequence number.
 */
#include "loop.h"

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

static void sift_down(struct coil__timer_heap *heap, size_t index,
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

static void take_out(struct coil__timer_heap *heap, size_t index)
{
    struct coil__timer_entry last = heap->entries[--heap->count];

    heap->entries[index].timer->index = COIL__TIMER_IDLE;
    if (index == heap->count)
        return;
    if (index > 0 && earlier(&last, &heap->entries[(index - 1) / 4]))
        sift_up(heap, index, last);
    else
        sift_down(heap, index, last);
}

static int make_room(struct coil__timer_heap *heap)
{
    size_t capacity = heap->capacity == 0 ? FIRST_CAPACITY : 2 * heap->capacity;
    void *entries;

    if (heap->count < heap->capacity)
        return 0;
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
    timer->when = 0;
}

int coil__timer_start(coil_loop *loop, struct coil__timer *timer, int64_t when)
{
    struct coil__timer_heap *heap = &loop->timers;
    int rc = make_room(heap);

    if (rc < 0)
        return rc;
    timer->when = when;
    timer->sequence = heap->next_sequence++;
    sift_up(heap, heap->count++, (struct coil__timer_entry){when, timer});
    return 0;
}

void coil__timer_stop(coil_loop *loop, struct coil__timer *timer)
{
    if (timer->index != COIL__TIMER_IDLE)
        take_out(&loop->timers, timer->index);
    else
        coil__list_remove(&timer->runnable.link);
}

void coil__timers_expire(coil_loop *loop, int64_t now)
{
    struct coil__timer_heap *heap = &loop->timers;

    while (heap->count > 0 && heap->entries[0].when <= now) {
        struct coil__timer *timer = heap->entries[0].timer;

        take_out(heap, 0);
        coil__loop_add_ready(loop, &timer->runnable);
    }
}
