/*
 * failure.h - whose errors are whose.
 */
#ifndef COIL_TASK_FAILURE_H
#define COIL_TASK_FAILURE_H

#include "task.h"

#include <coil/error.h>

/*
 * The running task, if one runs, was given the failure `rc` of an await: by `future`, or
 * by what failed with `error`. Its last error is from now on one with that as its cause,
 * or none, if that is NULL. `from` is where the user called us. A cancellation leaves it
 * alone; its reason is the task's from now on, if nobody has asked that one to end.
 */
void coil__failure_hand_on(const coil_future *future, int rc, const void *from);
void coil__failure_hand_on_error(coil_error *error, int rc, const void *from);

/* The task has ended with `rc`: its last error is that of its failure, or is dropped. */
void coil__failure_settle(coil_future *future, int rc);

/* Tell the exception handler of the task. */
void coil__failure_report(const char *message, coil_task *task, int rc);

#endif
