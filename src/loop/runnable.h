/*
 * runnable.h (internal) - an element of the ready queue.
 */
#ifndef COIL_LOOP_RUNNABLE_H
#define COIL_LOOP_RUNNABLE_H

#include "../base/list.h"

/*
 * An element of the ready queue: a callback, a task's next step, or a timer that is due.
 * A runnable is a member of the object to which it belongs, so making it ready never
 * allocates memory. `link` links it into the ready queue or into the list of a future's
 * callbacks; coil__list_remove(&r->link) removes it from either list.
 *
 * When the loop closes, it sets loop->closing and runs each runnable that is still ready.
 * In that case run() must free its object instead of doing its work. Tasks are neither
 * resumed nor cancelled any more.
 */
struct coil__runnable {
    struct coil__list link;
    void (*run)(struct coil__runnable *runnable);
};

static inline void coil__runnable_init(struct coil__runnable *runnable,
                                       void (*run)(struct coil__runnable *))
{
    coil__list_init(&runnable->link);
    runnable->run = run;
}

#endif
