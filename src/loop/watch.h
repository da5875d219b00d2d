/*
 * watch.h (internal) - watchers of descriptors: a loop's readers and writers.
 */
#ifndef COIL_LOOP_WATCH_H
#define COIL_LOOP_WATCH_H

#include "descriptor.h"

#include <coil/loop.h>

/*
 * Make `runnable` ready in each poll that finds `fd` ready in `direction`
 * (level-triggered), or finds an error or a hang-up. If `fd` already has a watcher in
 * this direction, replace it, and watch the descriptor that has this number now. Returns
 * 0, -EBADF, -EINVAL, -ENOMEM, or -EBUSY if operations use `fd`.
 */
int coil__loop_watch(coil_loop *loop, int fd, enum coil__direction direction,
                     struct coil__runnable *runnable);

/* End a watch, and remove the runnable from the ready queue. */
void coil__loop_unwatch(coil_loop *loop, int fd, enum coil__direction direction,
                        struct coil__runnable *runnable);

/*
 * Make a watcher ready. Called by backends when the watcher's descriptor is ready. NULL
 * is accepted.
 */
void coil__watch_found(struct coil__runnable *runnable);

/* Remove all readers and writers. */
void coil__watches_finish(coil_loop *loop);

#endif
