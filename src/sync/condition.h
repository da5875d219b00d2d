/*
 * condition.h (internal) - a condition variable inside another object, such as a barrier.
 */
#ifndef COIL_SYNC_CONDITION_H
#define COIL_SYNC_CONDITION_H

#include "../task/wait.h"

#include <coil/condition.h>

/*
 * Like coil_condition_wait() and coil_condition_notify(), but the waiters and the lock
 * are passed separately. Task dumps describe the wait by `class` and `object`.
 */
int coil__condition_wait(coil_waiters *waiters, coil_lock *lock,
                         const struct coil__wait_class *class, const void *object);
void coil__condition_notify(coil_waiters *waiters, size_t n);

#endif
