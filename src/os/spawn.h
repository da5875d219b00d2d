/*
 * spawn.h (internal) - starts a program as a child process.
 */
#ifndef COIL_OS_SPAWN_H
#define COIL_OS_SPAWN_H

#include "../kernel/child.h"

#include <coil/process.h>

/*
 * Check the options and copy them to *what, except `stdio` and `terminal`, which the
 * caller sets. Fails with -EINVAL.
 */
int coil__spawn_read(const coil_process_opts *opts, struct coil__spawn *what);

/*
 * Start a child, and block the thread until the child runs the program. Returns 0, or a
 * negative errno if the child could not be started. In that case the task's last error
 * names the step that failed. The caller owns the handle (kernel/child.h).
 */
int coil__spawn(const struct coil__spawn *what, pid_t *pid, int *handle);

#endif
