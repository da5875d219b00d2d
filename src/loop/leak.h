/*
 * leak.h - in debug mode, reports objects that are not freed when their loop closes.
 *
 * Code that creates an object notes it; code that frees an object removes its note. While
 * no loop is in debug mode, either call costs a load and a branch. These functions may be
 * called on any thread.
 */
#ifndef COIL_LOOP_LEAK_H
#define COIL_LOOP_LEAK_H

#include "loop.h"

struct coil__leak_kind {
    const char *noun;   /* "a stream" */
    const char *number; /* name of the object's number, such as "descriptor", or NULL */
    const char *verb;   /* the participle in "was not destroyed" */
};

extern _Atomic size_t coil__leak_notes; /* the number of notes */

/* Called by the two functions below. */
void coil__leak_add(const struct coil__leak_kind *kind, const void *thing, int number,
                    const char *name);
void coil__leak_remove(const void *thing);

/*
 * Note that `thing` was created by the public function that is running. A second note for
 * the same object replaces the first. `name` is copied, and may be NULL. `kind` must stay
 * valid.
 */
static inline void coil__leak_note(const struct coil__leak_kind *kind, const void *thing,
                                   int number, const char *name)
{
    const coil_loop *loop = coil__loop_of_thread;

    if (COIL__UNLIKELY(loop != NULL && loop->debug))
        coil__leak_add(kind, thing, number, name);
}

/*
 * Remove the note of `thing`, if it exists. Called when the object is freed or need no
 * longer be freed.
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
