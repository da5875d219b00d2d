/*
 * trim.h (internal) - discards the unused pages of stacks whose tasks wait for long.
 */
#ifndef COIL_TASK_TRIM_H
#define COIL_TASK_TRIM_H

#include "task.h"

/* How long a task must have waited. Set by tests, before the loop's first task. */
extern int64_t coil__task_trim_age_ns;

/* Called with the first task of a loop. */
void coil__task_trim_set_up(coil_loop *loop);

/* Visit the next tasks of a round, or begin one. */
void coil__task_trim_stacks(coil_loop *loop);

#endif
