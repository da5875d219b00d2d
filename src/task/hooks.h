/*
 * hooks.h (internal) - calls a task's hooks when the task is entered and left: see
 * coil/hooks.h.
 */
#ifndef COIL_TASK_HOOKS_H
#define COIL_TASK_HOOKS_H

#include "task.h"

/* A task's hooks and their states, stored at the top of its stack. */
struct coil__hooked {
    const coil_task_hooks *const *hooks;
    bool are_left;
    _Alignas(16) char states[];
};

/*
 * Store hooks and states in a task that is being created. Fails with -EINVAL if the
 * states are too large.
 */
int coil__hooks_set(coil_task *task, const coil_task_hooks *const *hooks);

/*
 * Call the running task's hooks: when the task begins or continues, when it is suspended,
 * and when it has ended.
 */
void coil__hooks_enter(coil_task *task);
void coil__hooks_leave(coil_task *task);
void coil__hooks_end(coil_task *task);

#endif
