/*
 * light_task.h (internal) - light tasks: their stacks may be swapped out while they wait.
 */
#ifndef COIL_TASK_LIGHT_TASK_H
#define COIL_TASK_LIGHT_TASK_H

#include "task.h"

/* Which tasks are light, and when their stacks are swapped out. Set by tests. */
enum coil__light_mode {
    COIL__LIGHT_CHOSEN, /* only tasks whose options request it */
    COIL__LIGHT_MANUAL, /* all tasks; no stack is swapped out automatically */
    COIL__LIGHT_ALWAYS  /* all tasks; swapped out at each wait that allows it */
};

extern int coil__task_light_mode; /* enum coil__light_mode */

/* Call this before creating the first light task. */
void coil__light_tasks_set_up(void);

/*
 * Swap out the stack of one light task. Returns false if the stack cannot be swapped out
 * now: the task's wait is not in its control block, a region has pointers to the stack,
 * more than 1 KiB is live, or memory ran out.
 */
bool coil__task_swap_out(coil_task *task);

/*
 * Swap the stack in. Returns false if the stack was not swapped out. The task continues
 * to wait.
 */
bool coil__task_swap_in(coil_task *task);

/* The step of a light task that has not begun, or whose stack is swapped out. */
void coil__task_light_step(struct coil__runnable *runnable);

/* ---- for tests --------------------------------------------------------------------- */

/* Called after each switch away from the task if the mode is COIL__LIGHT_ALWAYS. */
void coil__task_swap_out_always(coil_task *task);

#endif
