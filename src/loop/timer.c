/*
 * timer.c - the timers of a loop: a 4-ary heap.
 *
 * With four children per node, the heap has half the depth of a binary heap. An entry is
 * a deadline and a pointer. The array is aligned so that entry 1 is at the start of a
 * cache line, which makes the four children of each node share one line. A timer stores
 * its index in the heap, so a cancelled timer can be removed immediately. In asyncio,
 * cancelled timers remain in the heap until later.
 *
 * Sequence numbers ensure that timers with equal deadlines fire in the order in which
 * they were armed. The number is in a union with the link, which is unused while the
 * timer is in the heap, so a timer is no larger than a timer of libev. Size matters: most
 * of the time that it takes to arm a million timers is spent on accessing their memory.
 */
#include "leak.h"
#include "loop.h"

#include <coil/timer.h>

#include <string.h>

#define FIRST_CAPACITY 64

#define LINE 64                                            /* bytes of a cache line */
#define CHILDREN (LINE / sizeof(struct coil__timer_entry)) /* children of a node */

_Static_assert(CHILDREN == 4, "the four children of a node do not fill a cache line");

static bool earlier(const struct coil__timer_entry *a, const struct coil__timer_entry *b)
{
    if (a->when != b->when)
        return a->when < b->when;
    return a->timer->sequence < b->timer->sequence;
}

static void set_slot(struct coil__timer_heap *heap, size_t index,
                     struct coil__timer_entry entry)
{
    heap->entries[index] = entry;
    entry.timer->place = index + 1;
}

static void sift_up(struct coil__timer_heap *heap, size_t index,
                    struct coil__timer_entry entry)
{
    while (index > 0) {
        size_t parent = (index - 1) / CHILDREN;

        if (!earlier(&entry, &heap->entries[parent]))
            break;
        set_slot(heap, index, heap->entries[parent]);
        index = parent;
    }
    set_slot(heap, index, entry);
}

/*
 * Return the index of the entry with the earlier deadline. Usually compiled without a
 * branch, because the processor could not predict which of two random deadlines is
 * earlier.
 */
static inline size_t earlier_of(const struct coil__timer_heap *heap, size_t a, size_t b)
{
    int64_t first = heap->entries[a].when, second = heap->entries[b].when;

    if (COIL__UNLIKELY(first == second))
        return earlier(&heap->entries[b], &heap->entries[a]) ? b : a;
    return a + (size_t)(second < first) * (b - a);
}

/*
 * Return the index of the child with the earliest deadline. Also prefetches the cache
 * lines of all grandchildren, one of which is needed next. Without prefetching, the
 * processor could fetch that line only after the comparisons, because there is no branch
 * on which it could speculate.
 */
static inline size_t earliest_child(const struct coil__timer_heap *heap, size_t index)
{
    size_t first = CHILDREN * index + 1, best = first;

    if (COIL__LIKELY(first + CHILDREN <= heap->count)) {
        for (size_t child = first; child < first + CHILDREN; child++)
            COIL__PREFETCH(&heap->entries[CHILDREN * child + 1]);
        return earlier_of(heap, earlier_of(heap, first, first + 1),
                          earlier_of(heap, first + 2, first + 3));
    }
    for (size_t child = first + 1; child < heap->count; child++)
        best = earlier_of(heap, best, child);
    return best;
}

/*
 * Not inlined: this keeps all variables in registers, which makes firing a timer 10 %
 * faster.
 */
static COIL__NOINLINE void sift_down(struct coil__timer_heap *heap, size_t index,
                                     struct coil__timer_entry entry)
{
    while (CHILDREN * index + 1 < heap->count) {
        size_t child = earliest_child(heap, index);

        if (!earlier(&heap->entries[child], &entry))
            break;
        set_slot(heap, index, heap->entries[child]);
        index = child;
    }
    set_slot(heap, index, entry);
}

static inline void take_out(struct coil__timer_heap *heap, struct coil__timer *timer)
{
    size_t index = timer->place - 1;
    struct coil__timer_entry last = heap->entries[--heap->count];

    timer->place = COIL__TIMER_IDLE;
    coil__list_init(&timer->runnable.link);
    if (index == heap->count)
        return;
    if (index > 0 && earlier(&last, &heap->entries[(index - 1) / CHILDREN]))
        sift_up(heap, index, last);
    else
        sift_down(heap, index, last);
}

/*
 * Return the offset of entry 0 in the memory that puts entry 1 at the start of a cache
 * line. The offset is less than two lines minus the size of an entry.
 */
static size_t offset_in(const char *memory)
{
    return LINE - sizeof(struct coil__timer_entry) + (-(uintptr_t)memory) % LINE;
}

COIL__COLD int coil__timers_grow(struct coil__timer_heap *heap)
{
    size_t capacity = heap->capacity == 0 ? FIRST_CAPACITY : 2 * heap->capacity;
    size_t old = (size_t)((char *)heap->entries - (char *)heap->memory), offset;
    char *memory =
        coil__realloc(heap->memory, capacity * sizeof *heap->entries + 2 * LINE);

    if (memory == NULL)
        return coil__failed(-ENOMEM);
    offset = offset_in(memory);
    if (offset != old)
        memmove(memory + offset, memory + old, heap->count * sizeof *heap->entries);
    heap->memory = memory;
    heap->entries = (struct coil__timer_entry *)(memory + offset);
    heap->capacity = capacity;
    return 0;
}

void coil__timer_init(struct coil__timer *timer, void (*run)(struct coil__runnable *))
{
    coil__runnable_init(&timer->runnable, run);
    timer->place = COIL__TIMER_IDLE;
}

void coil__timer_start_reserved(coil_loop *loop, struct coil__timer *timer, int64_t when)
{
    struct coil__timer_heap *heap = &loop->timers;

    timer->sequence = heap->next_sequence++;
    sift_up(heap, heap->count++, (struct coil__timer_entry){when, timer});
    if (heap->entries[0].timer == timer)
        coil__loop_read_clock_soon(loop);
}

int coil__timer_start(coil_loop *loop, struct coil__timer *timer, int64_t when)
{
    int rc = coil__timers_make_room(&loop->timers);

    if (rc == 0)
        coil__timer_start_reserved(loop, timer, when);
    return rc;
}

void coil__timer_stop(coil_loop *loop, struct coil__timer *timer)
{
    if (timer->place != COIL__TIMER_IDLE)
        take_out(&loop->timers, timer);
    else
        coil__list_remove(&timer->runnable.link);
}

int64_t coil__timer_deadline(const coil_loop *loop, const struct coil__timer *timer)
{
    return timer->place != COIL__TIMER_IDLE ? loop->timers.entries[timer->place - 1].when
                                            : loop->clock_read;
}

void coil__timer_stop_foreign(const char *caller)
{
    coil__misuse("%s: the timer belongs to another thread's loop", caller);
}

coil_loop *coil__timer_loop_to_undo(const struct coil__timer *timer, const char *caller)
{
    coil_loop *loop = coil__loop_to_undo(caller), *parents = coil__loop_of_parent;

    if (COIL__LIKELY(coil__timer_fits(&loop->timers, timer)))
        return loop;
    if (parents == NULL || !coil__timer_fits(&parents->timers, timer))
        coil__timer_stop_foreign(caller);
    return parents;
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

void coil__timers_finish(coil_loop *loop)
{
    coil__free(loop->timers.memory);
}

/* ---- coil/timer.h ------------------------------------------------------------------ */

struct timer {
    struct coil__timer timer;
    coil_callback fn;
    void *arg;
};

_Static_assert(sizeof(struct timer) == sizeof(coil_timer), "coil_timer has another size");

static struct timer *struct_of(const coil_timer *timer)
{
    return (struct timer *)timer;
}

static const struct coil__leak_kind leaked_timer = {"a timer", NULL, "stopped"};

/*
 * Call the timer's callback, which may free the timer, because it is no longer in any
 * list.
 */
static void call(struct coil__runnable *runnable)
{
    struct timer *t = COIL__CONTAINER(runnable, struct timer, timer.runnable);

    coil__leak_forget(t);
    coil__loop_calls(coil__loop_of_thread, (const void *)t->fn, NULL);
    if (!coil__loop_of_thread->closing)
        t->fn(t->arg);
}

void coil_timer_init(coil_timer *timer, coil_callback fn, void *arg)
{
    COIL__REQUIRE(timer, "a timer");
    COIL__REQUIRE(fn, "a function");
    struct timer *t = struct_of(timer);

    coil__timer_init(&t->timer, call);
    t->fn = fn;
    t->arg = arg;
}

bool coil_timer_started(const coil_timer *timer)
{
    COIL__REQUIRE(timer, "a timer");
    const struct coil__timer *t = &struct_of(timer)->timer;

    if (t->place != COIL__TIMER_IDLE)
        return true;
    return t->runnable.link.next != NULL && !coil__list_empty(&t->runnable.link);
}

/*
 * Change the deadline of a timer, which may be in the ready queue instead of the heap. If
 * the heap cannot grow, the timer is not changed.
 */
static COIL__NOINLINE int rearm_timer(coil_loop *loop, struct coil__timer *timer,
                                      int64_t deadline)
{
    int rc = timer->place == COIL__TIMER_IDLE ? coil__timers_make_room(&loop->timers) : 0;

    if (rc < 0)
        return rc;
    coil__timer_stop(loop, timer);
    return coil__timer_start(loop, timer, deadline);
}

int coil_timer_start(coil_timer *timer, int64_t deadline)
{
    COIL__REQUIRE(timer, "a timer");
    coil_loop *loop = coil__loop_require("coil_timer_start");
    struct timer *t = struct_of(timer);
    int rc;

    if (COIL__UNLIKELY(t->timer.runnable.run == NULL))
        coil__misuse(
            "coil_timer_start: the timer was not initialised with coil_timer_init()");
    if (COIL__UNLIKELY(loop->debug))
        coil__loop_check_stack("coil_timer_start");
    coil__timer_check(&loop->timers, &t->timer, "coil_timer_start");
    if (COIL__UNLIKELY(coil_timer_started(timer)))
        rc = rearm_timer(loop, &t->timer, deadline);
    else
        rc = coil__timer_start(loop, &t->timer, deadline);
    if (rc == 0)
        coil__leak_note(&leaked_timer, t, 0, NULL);
    return rc;
}

void coil_timer_stop(coil_timer *timer)
{
    COIL__REQUIRE(timer, "a timer");
    struct coil__timer *t = &struct_of(timer)->timer;

    coil__leak_forget(timer);
    if (coil_timer_started(timer))
        coil__timer_stop(coil__timer_loop_to_undo(t, "coil_timer_stop"), t);
}
