/*
 * lock.c - one task at a time. (asyncio: locks.Lock)
 *
 * Releasing does not hand the lock over: it wakes the first in line, which takes it when
 * it runs. Nobody overtakes meanwhile, since an acquire that finds somebody in line who
 * has not given up goes behind. Whoever gives up after having been woken wakes the next.
 */
#include "waiters.h"

#include <coil/lock.h>

void coil_lock_init(coil_lock *lock)
{
    *lock = (coil_lock)COIL_LOCK_INIT;
}

void coil_lock_finish(coil_lock *lock)
{
    if (lock != NULL)
        coil__waiters_finish(&lock->waiters, "coil_lock_finish");
}

static bool somebody_in_line(const coil_lock *lock)
{
    const struct coil__waiter *w = coil__waiters_first(&lock->waiters);

    while (w != NULL && w->wait.cancelled)
        w = w->next;
    return w != NULL;
}

/* The first alone: if it has given up it will see to the next itself, when it runs. */
static void wake_first(coil_lock *lock)
{
    struct coil__waiter *first = coil__waiters_first(&lock->waiters);

    if (first != NULL)
        coil__waiter_wake(first);
}

int coil_lock_acquire(coil_lock *lock)
{
    static const struct coil__wait_class class = COIL__WAITER_CLASS("lock");
    struct coil__waiter waiter;
    int rc = 0;

    if (lock->locked || somebody_in_line(lock))
        rc = coil__waiters_wait(&lock->waiters, &waiter, &class, lock);
    if (rc == 0)
        lock->locked = true;
    else if (!lock->locked)
        wake_first(lock);
    return rc;
}

int coil_lock_release(coil_lock *lock)
{
    if (!lock->locked)
        return -EPERM;
    lock->locked = false;
    wake_first(lock);
    return 0;
}

bool coil_lock_locked(const coil_lock *lock)
{
    return lock->locked;
}
