/*
 * budget.h - so that a socket that always has data starves nobody.
 */
#ifndef COIL_TASK_BUDGET_H
#define COIL_TASK_BUDGET_H

#include "task.h"

#define COIL__BUDGET 64

/* Where nothing is left, or no task runs. */
int coil__task_spend_last(void);

/*
 * Called before each I/O operation, which might not have to wait. When the running task
 * has done COIL__BUDGET since it last let others run, yields. Returns 0 or -ECANCELED.
 */
static inline int coil__task_spend(void)
{
    coil_task *task = coil__scheduler.current;

    if (COIL__UNLIKELY(task == NULL || task->budget == 0))
        return coil__task_spend_last();
    task->budget--;
    return 0;
}

#endif
