/*
 * scheduler.h (internal) - attaches the thread's tasks to a loop.
 */
#ifndef COIL_TASK_SCHEDULER_H
#define COIL_TASK_SCHEDULER_H

#include "task.h"

void coil__scheduler_attach_slowly(coil_loop *loop);

/*
 * Attach the thread's tasks to the loop, unless they already are. Called by each spawn.
 */
static inline void coil__scheduler_attach(coil_loop *loop)
{
    if (COIL__UNLIKELY(coil__scheduler.hooked != loop))
        coil__scheduler_attach_slowly(loop);
}

#endif
