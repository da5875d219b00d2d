/*
 * away.h (internal) - light tasks: their stacks are put away while they wait.
 */
#ifndef COIL_TASK_AWAY_H
#define COIL_TASK_AWAY_H

#include "task.h"

/* The tasks that are light, and the time at which they are put away. Set by tests. */
enum coil__light_mode {
    COIL__LIGHT_CHOSEN, /* as their options say */
    COIL__LIGHT_APART,  /* all, and none is put away by itself */
    COIL__LIGHT_ALWAYS  /* all, and they are at each wait that allows it */
};

extern int coil__task_light_mode; /* enum coil__light_mode */

/* Before the first light task. */
void coil__light_tasks_set_up(void);

/*
 * Put a light task's stack away by hand. Returns false if that is not possible now: the
 * task does not wait in its room, a region has pointers to its stack, more than 1 KiB is
 * live, or memory ran out.
 */
bool coil__task_put_away(coil_task *task);

/* Bring the stack back, if it is away: true. The task continues to wait. */
bool coil__task_bring_back(coil_task *task);

/* The step of a light task that has not begun, or is put away. */
void coil__task_rouse(struct coil__runnable *runnable);

/* ---- for tests --------------------------------------------------------------------- */

/* COIL__LIGHT_ALWAYS: the task has been left. */
void coil__task_stays_away(coil_task *task);

#endif
