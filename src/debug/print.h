/*
 * print.h - prints the state and the stack of one task.
 */
#ifndef COIL_DEBUG_PRINT_H
#define COIL_DEBUG_PRINT_H

#include "../error/report.h"
#include "../task/task.h"

/* Marks that are set on tasks while a tree or a graph of tasks is printed. */
enum { COIL__MARK_AWAITED = 1, COIL__MARK_PRINTED = 2 };

/* The greatest depth of a printed tree or graph. */
#define COIL__PRINT_DEPTH 40

/* Clear the marks of all tasks. */
void coil__clear_marks(void);

/* Print "waits 2.0 s: sleep, 3.0 s to go", "is ready" or "runs", without a newline. */
void coil__print_state(struct coil__report *report, const coil_task *task);

/* Like coil_task_backtrace(). The first address of the running task is `from`. */
int coil__task_backtrace(coil_task *task, void *addresses[], size_t max,
                         const void *from);

/*
 * Print the functions on the task's stack, one per line, with `margin` before each. For
 * the running task, begin with `from`.
 */
void coil__print_stack(struct coil__report *report, coil_task *task, const char *margin,
                       const void *from);

#endif
