/*
 * print.h - prints the state and the stack of one task.
 */
#ifndef COIL_DEBUG_PRINT_H
#define COIL_DEBUG_PRINT_H

#include "../error/report.h"
#include "../task/task.h"

/* Marks in coil_task.marks, which are used while a tree or graph of tasks is printed. */
enum { COIL__MARK_AWAITED = 1, COIL__MARK_PRINTED = 2 };

/* The maximum depth of a printed tree or graph. */
#define COIL__PRINT_DEPTH 40

/* Clear these marks in all tasks of this thread. */
void coil__clear_marks(void);

/*
 * Print what the task is doing, for example "waits 2.0 s: sleep, 3.0 s to go", "is ready"
 * or "runs", without a newline.
 */
void coil__print_state(struct coil__report *report, const coil_task *task);

/* Like coil_task_backtrace(), but the addresses of the running task begin with `from`. */
int coil__task_backtrace(coil_task *task, void *addresses[], size_t max,
                         const void *from);

/*
 * Print the functions on the task's stack, each on a line that begins with `margin`. For
 * the running task, begin with the function that contains the address `from`.
 */
void coil__print_stack(struct coil__report *report, coil_task *task, const char *margin,
                       const void *from);

#endif
