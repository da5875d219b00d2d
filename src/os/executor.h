/*
 * executor.h (internal) - blocking calls of the library's own, by names that users know.
 */
#ifndef COIL_OS_EXECUTOR_H
#define COIL_OS_EXECUTOR_H

#include "../task/wait.h"

#include <coil/executor.h>

/*
 * coil_blocking(), as a wait of `class`, whose `cancel` is coil__blocking_cancel(). A job
 * that did not run is a negative errno, so let fn return 0 and keep its result in `arg`.
 */
int coil__blocking(coil_lane lane, int (*fn)(void *arg), void *arg,
                   const struct coil__wait_class *class);
bool coil__blocking_cancel(struct coil__wait *wait);

/* For the class's `describe`: what fn is called with; NULL once it is abandoned. */
void *coil__blocking_arg(const struct coil__wait *wait);

#endif
