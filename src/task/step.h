/*
 * step.h (internal) - starting a task and stepping it: what task.c offers to the files that
 * create tasks or swap them out.
 */
#ifndef COIL_TASK_STEP_H
#define COIL_TASK_STEP_H

#include "task.h"

/* The classes of ordinary and of light tasks. */
extern const struct coil__coro_class coil__task_class, coil__task_light_class;

/* The step of a task that has not begun. */
void coil__task_first_step(struct coil__runnable *runnable);

/* The step of any task that has begun and is on its stack. */
void coil__task_step(struct coil__runnable *runnable);

/* Prepare the stack, so that the first transfer enters the task's body. */
void coil__task_prepare_frames(coil_task *task);

/* The address to which a body returns that was entered directly. */
void coil__task_body_returned(int rc);

/* A light task is about to be entered for the first time. */
void coil__task_begin(coil_task *task);

/* A task was cancelled before its first step. */
void coil__task_end_unbegun(coil_task *task);

/* Run the first step now. */
void coil__task_start_eagerly(coil_task *task);

/*
 * Let the task run its first step: in the next turn, or, eagerly, now. If it has started
 * eagerly, it may have ended when this returns, and is freed then without a reference.
 */
static inline void coil__task_start(coil_task *task, bool eagerly)
{
    if (COIL__UNLIKELY(eagerly && task->future.loop->running))
        coil__task_start_eagerly(task);
    else
        coil__loop_add_ready(task->future.loop, &task->step);
}

#endif
