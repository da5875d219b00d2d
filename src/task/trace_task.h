/*
 * trace_task.h - records the events of tasks in the trace of their loop: see
 * loop/trace.h.
 */
#ifndef COIL_TASK_TRACE_TASK_H
#define COIL_TASK_TRACE_TASK_H

#include "task.h"

/* Called when a trace has started or stopped, to update coil__scheduler. */
void coil__trace_tasks(coil_loop *loop);

/* These functions implement number() and each() of struct coil__task_layer. */
uint32_t coil__trace_number(const struct coil__runnable *runnable);
void coil__trace_each_task(coil_loop *loop, coil__trace_visit_task *visit, void *arg);

/* Record that a task was created, or was given a name. */
void coil__trace_spawned(const coil_task *task);
void coil__trace_named(const coil_task *task);

/* Record what the running task is about to wait for. */
void coil__trace_suspends(const coil_task *task);

#endif
