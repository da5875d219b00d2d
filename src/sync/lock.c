/*
 * lock.c - a mutex for tasks. (asyncio: locks.Lock)
 *
 * A release does not hand the lock over: it wakes the first waiter, which takes the lock
 * when it runs. Other tasks cannot overtake that waiter: as long as the queue contains a
 * waiter that was not cancelled, coil_lock_acquire() joins the queue. A waiter that is
 * cancelled after it was woken wakes the next waiter.
 */
#include "waiters.h"

#include "../coro/outside.h"

#include <coil/lock.h>

COIL__OUTSIDE(COIL__OUTSIDE_AT(COIL__AT_LOCK_LOCKED, coil_lock, locked),
              COIL__OUTSIDE_AT(COIL__AT_LOCK_OWNER, coil_lock, owner));

void coil_lock_init(coil_lock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    *lock = (coil_lock)COIL_LOCK_INIT;
    coil__waiters_bind_in_debug_mode(&lock->waiters);
}

void coil_lock_finish(coil_lock *lock)
{
    if (lock != NULL)
        coil__waiters_finish(&lock->waiters, "coil_lock_finish");
}

static bool has_waiter(const coil_lock *lock)
{
    const struct coil__waiter *w = coil__waiters_first(&lock->waiters);

    while (w != NULL && w->wait.cancelled)
        w = w->next;
    return w != NULL;
}

/*
 * Wake only the first waiter. If that waiter was cancelled, its task wakes the next
 * waiter when it runs.
 */
static void wake_first_waiter(coil_lock *lock)
{
    struct coil__waiter *first = coil__waiters_first(&lock->waiters);

    if (first != NULL)
        coil__waiter_wake(first);
}

static void take(coil_lock *lock)
{
    const coil_task *task = coil__scheduler.current;

    lock->locked = true;
    lock->owner = task != NULL ? task->coro.number : 0; /* 0 in a callback */
}

int coil_lock_acquire(coil_lock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    static const struct coil__wait_class class =
        COIL__WAITER_CLASS("lock", "coil_lock_acquire");
    int rc = 0;

    if (lock->locked || has_waiter(lock)) /* coil__waiters_wait() checks the thread */
        rc = coil__waiters_wait(&lock->waiters, &class, lock);
    else
        coil__waiters_check(&lock->waiters, "coil_lock_acquire");
    if (rc == 0)
        take(lock);
    else if (!lock->locked)
        wake_first_waiter(lock);
    return rc;
}

int coil_lock_release(coil_lock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    struct coil__waiter *first = coil__waiters_first(&lock->waiters);

    coil__waiters_check(&lock->waiters, "coil_lock_release");
    if (!lock->locked)
        return coil__failed(-EPERM);
    lock->locked = false;
    lock->owner = 0;
    if (first != NULL)
        coil__waiter_wake(first);
    return 0;
}

bool coil_lock_locked(const coil_lock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    return lock->locked;
}
