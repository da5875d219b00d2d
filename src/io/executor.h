/*
 * executor.h (internal) - the library's own blocking calls, described by names that users
 * know.
 */
#ifndef COIL_IO_EXECUTOR_H
#define COIL_IO_EXECUTOR_H

#include "../task/wait.h"

#include <coil/executor.h>

/*
 * Like coil_blocking(), but the task waits in a wait of `class`, whose `cancel` is
 * coil__blocking_cancel(). Returns a negative errno if the job did not run, so fn must
 * return 0 and store its result in `arg`.
 */
int coil__blocking(coil_lane lane, int (*fn)(void *arg), void *arg,
                   const struct coil__wait_class *class);
bool coil__blocking_cancel(struct coil__wait *wait);

/* The argument of fn, for the class's `describe`; NULL once the job is abandoned. */
void *coil__blocking_arg(const struct coil__wait *wait);

#endif
