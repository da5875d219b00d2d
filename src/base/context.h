/*
 * context.h (internal) - contexts, as those see them who carry one along.
 *
 * A call that is to be made later captures the bindings of the context it was asked for
 * in, and is made in a slot of its own:
 *
 *     call->bindings = coil__context_capture();
 *     ...
 *     struct coil__context_slot slot, *outer;
 *     outer = coil__context_enter(&slot, call->bindings);
 *     call->fn(call->arg);
 *     coil__context_leave(&slot, outer);
 */
#ifndef COIL_BASE_CONTEXT_H
#define COIL_BASE_CONTEXT_H

#include "base.h"

#include <coil/context.h>

#include <stdatomic.h>

/* What is set: immutable, counted; NULL where nothing is. */
struct coil__bindings;

/* Where code runs that has a context: a task, a call, a thread. Zeroed, it has nothing.
 */
struct coil__context_slot {
    struct coil__bindings *own;
    coil_context *entered; /* instead of `own`; a reference */
};

/* True once the process has set a variable: until then there is nothing to carry. */
extern _Atomic bool coil__context_used;

static inline bool coil__context_is_used(void)
{
    return COIL__UNLIKELY(
        atomic_load_explicit(&coil__context_used, memory_order_relaxed));
}

/* A reference to the current bindings; for coil__context_enter() or _release(). */
struct coil__bindings *coil__context_capture_used(void);

static inline struct coil__bindings *coil__context_capture(void)
{
    return coil__context_is_used() ? coil__context_capture_used() : NULL;
}

/* Any thread; NULL is accepted, and returned. */
struct coil__bindings *coil__bindings_retain(struct coil__bindings *bindings);
void coil__bindings_release(struct coil__bindings *bindings);

/* Let go of what is in the slot. */
static inline void coil__context_slot_finish(struct coil__context_slot *slot)
{
    if (COIL__LIKELY(slot->entered == NULL && slot->own == NULL))
        return;
    coil_context_release(slot->entered);
    coil__bindings_release(slot->own);
    *slot = (struct coil__context_slot){NULL, NULL};
}

/* The slot of code on this thread that is no task's. */
extern COIL__THREAD_LOCAL struct coil__context_slot *coil__context_ambient;

/* Run in `slot`, which takes the reference over. Returns the slot to go back to. */
static inline struct coil__context_slot *
coil__context_enter(struct coil__context_slot *slot, struct coil__bindings *bindings)
{
    struct coil__context_slot *outer = coil__context_ambient;

    *slot = (struct coil__context_slot){bindings, NULL};
    coil__context_ambient = slot;
    return outer;
}

static inline void coil__context_leave(struct coil__context_slot *slot,
                                       struct coil__context_slot *outer)
{
    coil__context_ambient = outer;
    if (COIL__UNLIKELY(slot->own != NULL))
        coil__bindings_release(slot->own);
}

/*
 * Where a task runs, its slot goes before the ambient one. `find` tells it, or NULL for
 * none; it is set once on each thread that has tasks. So a task switch need not touch
 * any of this.
 */
void coil__context_set_finder(struct coil__context_slot *(*find)(void));

#endif
