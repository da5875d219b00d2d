/*
 * trim.h (internal) - discards the unused stack pages of tasks that have been waiting for
 * a long time.
 */
#ifndef COIL_TASK_TRIM_H
#define COIL_TASK_TRIM_H

#include "task.h"

/*
 * How long a task must have waited before its stack is trimmed. Tests set this before the
 * loop's first task.
 */
extern int64_t coil__task_trim_age_ns;

/* Called when the first task of a loop is created. */
void coil__task_trim_set_up(coil_loop *loop);

/* Visit the next tasks of the round, or begin a new round. */
void coil__task_trim_stacks(coil_loop *loop);

#endif
