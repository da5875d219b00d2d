/*
 * timer.h (internal) - the timers of a loop.
 *
 * A loop has one heap of timers, whose members are private to timer.c and this file.
 */
#ifndef COIL_LOOP_TIMER_H
#define COIL_LOOP_TIMER_H

#include "../base/base.h"
#include "runnable.h"

#include <coil/loop.h>

/*
 * When a timer is due, its `runnable` moves to the ready queue. The owner may cancel the
 * timer at any time, even after that.
 */
struct coil__timer {
    union {
        struct coil__runnable runnable;
        /* in the heap: the order of timers with equal deadlines */
        uint64_t sequence;
    };
    size_t place; /* index in the heap + 1, or COIL__TIMER_IDLE */
};

#define COIL__TIMER_IDLE 0 /* 0: a zeroed timer is idle */

/*
 * An entry contains the deadline, so the timers need not be accessed to compare entries.
 */
struct coil__timer_entry {
    int64_t when;
    struct coil__timer *timer;
};

struct coil__timer_heap {
    /* points into `memory`, aligned so that four children share a cache line */
    struct coil__timer_entry *entries;
    void *memory;
    size_t count, capacity;
    size_t reserved; /* the number of reservations */
    uint64_t next_sequence;
};

void coil__timer_init(struct coil__timer *timer, void (*run)(struct coil__runnable *));

/* Arm an idle timer for `when`. Fails with -ENOMEM if the heap cannot grow. */
int coil__timer_start(coil_loop *loop, struct coil__timer *timer, int64_t when);

/* Double the capacity of the heap. Returns 0 or -ENOMEM. */
int coil__timers_grow(struct coil__timer_heap *heap);

/*
 * True if there is room for one more timer. The result may be false although there is
 * room, because an armed timer with a reservation is counted both in `count` and in
 * `reserved`.
 */
static inline bool coil__timers_have_room(const struct coil__timer_heap *heap)
{
    return COIL__LIKELY(heap->count + heap->reserved < heap->capacity);
}

static inline int coil__timers_make_room(struct coil__timer_heap *heap)
{
    return coil__timers_have_room(heap) ? 0 : coil__timers_grow(heap);
}

/*
 * Reserve room for one timer, until coil__timer_unreserve(). The owner of a reservation
 * can arm one timer at a time with coil__timer_start_reserved(), which cannot fail. Each
 * task has one reservation during its life, for the timer of its waits. Fails with
 * -ENOMEM.
 */
static inline int coil__timer_reserve(struct coil__timer_heap *heap)
{
    int rc = coil__timers_make_room(heap);

    if (rc == 0)
        heap->reserved++;
    return rc;
}

void coil__timer_start_reserved(coil_loop *loop, struct coil__timer *timer, int64_t when);

static inline void coil__timer_unreserve(struct coil__timer_heap *heap)
{
    heap->reserved--;
}

/* Disarm the timer, which may be in the heap, in the ready queue, or idle. */
void coil__timer_stop(coil_loop *loop, struct coil__timer *timer);

/*
 * Return the time at which an armed timer fires. If the timer is due but has not run yet,
 * return the current time.
 */
int64_t coil__timer_deadline(const coil_loop *loop, const struct coil__timer *timer);

COIL__NORETURN void coil__timer_stop_foreign(const char *caller);

/*
 * Return false if the timer is in the heap of another loop. The check costs little,
 * because the caller reads the heap's entry anyway.
 */
static inline bool coil__timer_fits(const struct coil__timer_heap *heap,
                                    const struct coil__timer *timer)
{
    size_t place = timer->place;

    return place == COIL__TIMER_IDLE ||
           COIL__LIKELY(place <= heap->count && heap->entries[place - 1].timer == timer);
}

/* Abort with `caller` in the message if the timer is armed on another loop. */
static inline void coil__timer_check(const struct coil__timer_heap *heap,
                                     const struct coil__timer *timer, const char *caller)
{
    if (!coil__timer_fits(heap, timer))
        coil__timer_stop_foreign(caller);
}

/*
 * Return the loop on which the timer is armed, so that the caller can stop it: the
 * thread's loop or, in a child of fork(2), the parent's loop. Aborts if the timer is
 * armed on another loop.
 */
coil_loop *coil__timer_loop_to_undo(const struct coil__timer *timer, const char *caller);

/* Return the earliest deadline, or COIL_NEVER. */
static inline int64_t coil__timers_next(const struct coil__timer_heap *heap)
{
    return heap->count > 0 ? heap->entries[0].when : COIL_NEVER;
}

/* Return the number of armed timers. */
static inline size_t coil__timers_count(const struct coil__timer_heap *heap)
{
    return heap->count;
}

/* Free the heap, which must be empty. */
void coil__timers_finish(coil_loop *loop);

/* Move all timers that are due at `now` to the ready queue. */
void coil__timers_expire(coil_loop *loop, int64_t now);

#endif
