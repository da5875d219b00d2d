/*
 * block.h (internal) - the control blocks of tasks, which are recycled with their stacks.
 *
 * When a task ends, most members of its control block already have the values that a new
 * task needs: lists are empty, pointers are NULL. So coil__block_init() sets only the
 * other members. A task that leaves other values, which is rare, clears the coroutine's
 * class, so that the next task writes the whole block with coil__block_write().
 */
#ifndef COIL_TASK_BLOCK_H
#define COIL_TASK_BLOCK_H

#include "step.h"

/* Reset the members that every task changes. */
static inline void coil__block_init(coil_task *task, coil_loop *loop)
{
    task->coro.caller = NULL;
    task->coro.done = false;
    task->leaf = &task->coro;
    task->step.run = coil__task_first_step;
    task->saved_errno = 0;
    task->started = task->must_cancel = task->passed_on = task->delivered = false;
    task->future.loop = loop;
    task->future.loop_number = loop->number;
    task->future.refs = 1;
    task->future.rc = -EINPROGRESS;
    task->future.is_task = true;
    task->future.unseen = task->future.quiet = task->future.error_is_older = false;
    task->hold_cancel = task->borrowed = task->starting = task->ready = false;
    task->leftover = false;
    task->earlier_callbacks = 0;
}

/* Write all members. Call coil__block_init() afterwards. */
void coil__block_write(coil_task *task, const struct coil__coro_class *class);

/* Compare a recycled block with a fully written one, and abort if they differ. */
#if COIL__ASAN || !defined __OPTIMIZE__
void coil__block_check(coil_task *task, coil_loop *loop);
#else
static inline void coil__block_check(coil_task *task, coil_loop *loop)
{
    (void)task, (void)loop;
}
#endif

/* Free the blocks that this thread has kept in debug mode. */
void coil__blocks_destroy_kept(void);

#endif
