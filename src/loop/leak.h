/*
 * leak.h - in debug mode: objects created on a loop and not freed when the loop closes.
 *
 * The code that creates an object notes it; the code that frees it removes the note.
 * While no loop is in debug mode, each costs a load and a branch. May be used on any
 * thread.
 */
#ifndef COIL_LOOP_LEAK_H
#define COIL_LOOP_LEAK_H

#include "loop.h"

struct coil__leak_kind {
    const char *noun;   /* "a stream" */
    const char *number; /* what its number means, such as "descriptor"; or NULL */
    const char *verb;   /* the participle in "was not destroyed" */
};

extern _Atomic size_t coil__leak_notes; /* the number of notes */

/* Called by the two functions below. */
void coil__leak_add(const struct coil__leak_kind *kind, const void *thing, int number,
                    const char *name);
void coil__leak_remove(const void *thing);

/*
 * Note that the running call created `thing`; a second note replaces the first. `name` is
 * copied; it may be NULL. `kind` must stay valid.
 */
static inline void coil__leak_note(const struct coil__leak_kind *kind, const void *thing,
                                   int number, const char *name)
{
    const coil_loop *loop = coil__loop_of_thread;

    if (COIL__UNLIKELY(loop != NULL && loop->debug))
        coil__leak_add(kind, thing, number, name);
}

/*
 * Remove the note of `thing`, which was freed or need no longer be freed. Accepts an
 * object that was never noted.
 */
static inline void coil__leak_forget(const void *thing)
{
    if (COIL__UNLIKELY(atomic_load_explicit(&coil__leak_notes, memory_order_relaxed) > 0))
        coil__leak_remove(thing);
}

/*
 * Report the loop's notes to the exception handler, in the order in which they were
 * created. Called when the loop closes.
 */
void coil__leak_report(const coil_loop *loop);

#endif
