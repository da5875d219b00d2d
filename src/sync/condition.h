/*
 * condition.h (internal) - a condition that is part of something else.
 */
#ifndef COIL_SYNC_CONDITION_H
#define COIL_SYNC_CONDITION_H

#include "../task/wait.h"

#include <coil/condition.h>

/*
 * As coil_condition_wait() and _notify(), for a list of waiters and a lock. `class` and
 * `object` tell what the task waits for.
 */
int coil__condition_wait(coil_waiters *waiters, coil_lock *lock,
                         const struct coil__wait_class *class, const void *object);
void coil__condition_notify(coil_waiters *waiters, size_t n);

#endif
