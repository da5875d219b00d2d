/*
 * failure.h (internal) - stores the last error of each task, and of each thread.
 */
#ifndef COIL_TASK_FAILURE_H
#define COIL_TASK_FAILURE_H

#include "task.h"

#include <coil/error.h>

/*
 * Called when an await returns the failure `rc` to the running task. Creates an error
 * whose cause is the future's error (or `error`, which may be NULL), and makes it the
 * task's last error. `from` is the return address of the public function. If `rc` is
 * -ECANCELED, the task's last error does not change. Instead, the task takes over the
 * reason for the cancellation, unless the task itself was cancelled.
 */
void coil__failure_hand_on(const coil_future *future, int rc, const void *from);
void coil__failure_hand_on_error(coil_error *error, int rc, const void *from);

/*
 * Create an error without a message, whose stack trace starts at the return address
 * `from`. Returns NULL if there is no memory.
 */
coil_error *coil__failure_note(int rc, const void *from);

/*
 * Called when a task has ended with `rc`: drop its last error unless that error has the
 * same rc.
 */
void coil__failure_settle(coil_future *future, int rc);

/*
 * Like coil_fail(), for a public function that returns `rc`. Records nothing if `rc` is a
 * success or -ECANCELED, or if the thread has no loop. Returns rc.
 */
int coil__explain(int rc, const char *format, ...) COIL__PRINTF(2, 3);

/*
 * Return the error that would describe the failure if the running task or callback
 * returned `rc` now, or NULL if there is none. The caller does not own the error.
 */
coil_error *coil__failure_of(int rc);

/*
 * Save and restore the last error of the running task, or of the thread. A public
 * function uses both around a call whose failure it ignores.
 */
struct coil__failure_kept {
    coil_error *error; /* a reference */
    bool is_older;
};
void coil__failure_keep(struct coil__failure_kept *kept);
void coil__failure_put_back(struct coil__failure_kept *kept);

/* Drop the thread's last error when its loop closes. */
void coil__failure_loop_closes(void);

/* Enable coil__failed(). Must be called before the first task is created. */
void coil__failure_set_up(void);

/* Call the exception handler with the message, the task and its error. */
void coil__failure_report(const char *message, coil_task *task, int rc);

#endif
