/*
 * context.h (internal) - contexts for code that runs later: tasks, callbacks, threads.
 *
 * A call that is deferred captures the current bindings when it is scheduled, and enters
 * a slot with these bindings when it runs:
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

/*
 * The values of all variables that are set. Immutable and reference-counted. NULL stands
 * for bindings without any variables.
 */
struct coil__bindings;

/*
 * The current bindings of a task, a callback or a thread. A zeroed slot has no bindings.
 */
struct coil__context_slot {
    struct coil__bindings *own;
    coil_context *entered; /* NULL, or a reference to the context that replaces `own` */
};

/*
 * Set to true when any thread first sets a variable. Until then all contexts are empty.
 */
extern _Atomic bool coil__context_used;

static inline bool coil__context_is_used(void)
{
    return COIL__UNLIKELY(
        atomic_load_explicit(&coil__context_used, memory_order_relaxed));
}

/*
 * Return a new reference to the current bindings. The caller must pass it to
 * coil__context_enter() or release it.
 */
struct coil__bindings *coil__context_capture_used(void);

static inline struct coil__bindings *coil__context_capture(void)
{
    return coil__context_is_used() ? coil__context_capture_used() : NULL;
}

/* These functions accept NULL, and may be called on any thread. */
struct coil__bindings *coil__bindings_retain(struct coil__bindings *bindings);
void coil__bindings_release(struct coil__bindings *bindings);

/* Release the slot's references. */
static inline void coil__context_slot_finish(struct coil__context_slot *slot)
{
    if (COIL__LIKELY(slot->entered == NULL && slot->own == NULL))
        return;
    coil_context_release(slot->entered);
    coil__bindings_release(slot->own);
    *slot = (struct coil__context_slot){NULL, NULL};
}

/* The slot that code outside of tasks uses on this thread. */
extern COIL__THREAD_LOCAL struct coil__context_slot *coil__context_ambient;

/*
 * Make `slot` current, with these bindings, and take over the caller's reference to them.
 * Returns the slot that was current, which must be passed to coil__context_leave().
 */
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

/* Functions that the task layer, which is above this one, provides. */
struct coil__context_tasks {
    /*
     * Return the slot of the running task, or NULL if no task is running. While a task is
     * running, its slot is used, not coil__context_ambient, which therefore does not
     * change when tasks are switched.
     */
    struct coil__context_slot *(*slot)(void);
    /* Call fn(arg) in a no-suspend region: if a task is running, it must not wait. */
    void (*call_unsuspended)(void (*fn)(void *arg), void *arg);
};

/* Called once on each thread that has tasks. */
void coil__context_set_tasks(const struct coil__context_tasks *tasks);

#endif
