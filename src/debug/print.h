/*
 * print.h - one task in words: what it does, and where it stands.
 */
#ifndef COIL_DEBUG_PRINT_H
#define COIL_DEBUG_PRINT_H

#include "../task/task.h"

#include <stdio.h>

/* Marks of a task while a graph of them is printed. */
enum { COIL__MARK_AWAITED = 1, COIL__MARK_PRINTED = 2 };

/* A graph is printed so deep and no deeper, whatever its depth. */
#define COIL__PRINT_DEPTH 40

/* Take all marks from all tasks. */
void coil__clear_marks(void);

/* "waits 2.0 s: sleep, 3.0 s to go", "is ready", "runs". No newline. */
void coil__print_state(FILE *out, const coil_task *task);

/* As coil_task_backtrace(); the running task's begin with the return address `from`. */
int coil__task_backtrace(coil_task *task, void *addresses[], size_t max,
                         const void *from);

/*
 * The functions it stands in, a line each, with `prefix` before it; of the running task
 * from `from` on.
 */
void coil__print_stack(FILE *out, coil_task *task, const char *prefix, const void *from);

#endif
