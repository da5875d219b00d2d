/* step.h (internal) - functions of task.c that start a task or run its next step. */
#ifndef COIL_TASK_STEP_H
#define COIL_TASK_STEP_H

#include "task.h"

/* The coroutine classes of ordinary tasks and of light tasks. */
extern const struct coil__coro_class coil__task_class, coil__task_light_class;

/* The step of a task that has not begun. */
void coil__task_first_step(struct coil__runnable *runnable);

/* The step of any task that has begun and is not swapped out. */
void coil__task_step(struct coil__runnable *runnable);

/* Prepare the stack so that the first transfer enters the task's function. */
void coil__task_prepare_frames(coil_task *task);

/* If a task's function was entered directly, this function is its return address. */
void coil__task_body_returned(int rc);

/* Called before a light task is entered for the first time. */
void coil__task_begin(coil_task *task);

/* End a task that was cancelled before its first step. */
void coil__task_end_unbegun(coil_task *task);

/* Run the task's first step now. */
void coil__task_start_eagerly(coil_task *task);

/*
 * Run the task's first step in the loop's next iteration, or now if `eagerly` is true. A
 * task started eagerly may have ended when this function returns; it is freed unless the
 * caller has a reference.
 */
static inline void coil__task_start(coil_task *task, bool eagerly)
{
    if (COIL__UNLIKELY(eagerly && task->future.loop->running))
        coil__task_start_eagerly(task);
    else
        coil__loop_add_ready(task->future.loop, &task->step);
}

#endif
