/*
 * context.h (internal) - contexts for code that runs later: tasks, callbacks, threads.
 *
 * A deferred call captures the current bindings when it is scheduled, and later runs in a
 * slot with these bindings:
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
 * The values of variables, immutable and reference-counted. NULL means that no variable
 * is set.
 */
struct coil__bindings;

/* The context of a task, a callback or a thread. In a zeroed slot no variable is set. */
struct coil__context_slot {
    struct coil__bindings *own;
    coil_context *entered; /* NULL, or a reference to the context used instead of `own` */
};

/* True once the process has set a variable. Until then all contexts are empty. */
extern _Atomic bool coil__context_used;

static inline bool coil__context_is_used(void)
{
    return COIL__UNLIKELY(
        atomic_load_explicit(&coil__context_used, memory_order_relaxed));
}

/* Return a reference to the current bindings. The caller must pass it to
   coil__context_enter(), or release it. */
struct coil__bindings *coil__context_capture_used(void);

static inline struct coil__bindings *coil__context_capture(void)
{
    return coil__context_is_used() ? coil__context_capture_used() : NULL;
}

/* Any thread may call these functions. NULL is accepted. */
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

/* This thread's slot for code that runs outside of tasks. */
extern COIL__THREAD_LOCAL struct coil__context_slot *coil__context_ambient;

/*
 * Make `slot` current. Takes over the caller's reference to the bindings. Returns the
 * slot to restore.
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

/* Functions that the task layer provides to this lower layer. */
struct coil__context_tasks {
    /*
     * Return the slot of the running task, or NULL if no task is running. The task's slot
     * takes precedence over the thread's slot, so a task switch need not change the
     * latter.
     */
    struct coil__context_slot *(*slot)(void);
    /* Call fn(arg) in a region in which the running task, if any, must not wait. */
    void (*call_unsuspended)(void (*fn)(void *arg), void *arg);
};

/* Called once on each thread that has tasks. */
void coil__context_set_tasks(const struct coil__context_tasks *tasks);

#endif
