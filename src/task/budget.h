/*
 * budget.h - so that a socket that always has data starves nobody.
 */
#ifndef COIL_TASK_BUDGET_H
#define COIL_TASK_BUDGET_H

#define COIL__BUDGET 64

/*
 * Called before each I/O operation, which might not have to wait. When the running task
 * has done COIL__BUDGET since it last let others run, yields. Returns 0 or -ECANCELED.
 */
int coil__task_spend(void);

#endif
