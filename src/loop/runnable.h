/*
 * runnable.h (internal) - an element of the ready queue.
 */
#ifndef COIL_LOOP_RUNNABLE_H
#define COIL_LOOP_RUNNABLE_H

#include "../base/list.h"

/*
 * An element of the ready queue: a callback, a task's next step, or a timer that is due.
 * A runnable is a member of the object to which it belongs, so making it ready never
 * allocates memory. `link` connects it to the list in which it waits: the ready queue, or
 * the callbacks of a future. coil__list_remove(&r->link) removes it from either list.
 *
 * When the loop closes, each runnable that is still ready is run once with loop->closing
 * set. In that case run() must free its object instead of doing its work. run() cannot
 * affect tasks, because they are neither resumed nor cancelled.
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
