/*
 * executor.h (internal) - blocking calls of the library's own, by names that users know.
 */
#ifndef COIL_IO_EXECUTOR_H
#define COIL_IO_EXECUTOR_H

#include "../task/wait.h"

#include <coil/executor.h>

/*
 * coil_blocking() as a wait of `class`, whose `cancel` is coil__blocking_cancel().
 * Returns a negative errno if the job did not run; so fn returns 0 and stores its result
 * in `arg`.
 */
int coil__blocking(coil_lane lane, int (*fn)(void *arg), void *arg,
                   const struct coil__wait_class *class);
bool coil__blocking_cancel(struct coil__wait *wait);

/* The argument of fn, for the class's `describe`; NULL once the job is abandoned. */
void *coil__blocking_arg(const struct coil__wait *wait);

#endif
