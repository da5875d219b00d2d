/*
 * leak.h - in debug mode, reports objects that are not freed when their loop closes.
 *
 * A function that creates an object calls coil__leak_note(), and a function that frees
 * one calls coil__leak_forget(). While no loop is in debug mode, each call costs a load
 * and a branch. All functions here may be called on any thread.
 */
#ifndef COIL_LOOP_LEAK_H
#define COIL_LOOP_LEAK_H

#include "loop.h"

struct coil__leak_kind {
    const char *noun;   /* "a stream" */
    const char *number; /* meaning of the number, such as "descriptor"; or NULL */
    const char *verb;   /* the last word of "was not destroyed" */
};

extern _Atomic size_t coil__leak_notes; /* the number of notes */

/* Called by the two functions below. */
void coil__leak_add(const struct coil__leak_kind *kind, const void *thing, int number,
                    const char *name);
void coil__leak_remove(const void *thing);

/*
 * Note that the running public function has created `thing`. A second note for the same
 * object replaces the first. `name` is copied, and may be NULL. `kind` must stay valid.
 */
static inline void coil__leak_note(const struct coil__leak_kind *kind, const void *thing,
                                   int number, const char *name)
{
    const coil_loop *loop = coil__loop_of_thread;

    if (COIL__UNLIKELY(loop != NULL && loop->debug))
        coil__leak_add(kind, thing, number, name);
}

/*
 * Remove the note of `thing`, if there is one. Called when the object is freed, or no
 * longer has to be freed.
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
