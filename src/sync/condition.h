/*
 * condition.h (internal) - a condition that is part of something else.
 */
#ifndef COIL_SYNC_CONDITION_H
#define COIL_SYNC_CONDITION_H

#include <coil/condition.h>

/* As coil_condition_wait() and _notify(), for a list of waiters and a lock. */
int coil__condition_wait(coil_waiters *waiters, coil_lock *lock);
void coil__condition_notify(coil_waiters *waiters, size_t n);

#endif
