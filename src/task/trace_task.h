/*
 * trace_task.h - what the trace of a loop records of tasks: see loop/trace.h.
 */
#ifndef COIL_TASK_TRACE_TASK_H
#define COIL_TASK_TRACE_TASK_H

#include "task.h"

/* Called when a trace has started or stopped: see struct coil__scheduler. */
void coil__trace_tasks(coil_loop *loop);

/* For struct coil__task_layer. */
uint32_t coil__trace_number(const struct coil__runnable *runnable);
void coil__trace_each_task(coil_loop *loop, coil__trace_visit_task *visit, void *arg);

/* A traced task was created, or was given a name. */
void coil__trace_spawned(const coil_task *task);
void coil__trace_named(const coil_task *task);

/* A task suspends. */
void coil__trace_suspends(const coil_task *task);

#endif
