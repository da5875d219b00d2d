/*
 * rwlock.c - a lock that either several readers or one writer can hold. (tokio:
 * sync::RwLock)
 *
 * The task that wakes a waiter acquires the lock on the waiter's behalf. A waiter that is
 * cancelled before it runs releases the lock again. Waiters are woken in order until the
 * lock cannot admit the next one. The class of a wait shows whether the waiter is a
 * reader or a writer.
 */
#include "waiters.h"

#include <coil/rwlock.h>

static const struct coil__wait_class read_class =
    COIL__WAITER_CLASS("rwlock.read", "coil_rwlock_acquire_read");
static const struct coil__wait_class write_class =
    COIL__WAITER_CLASS("rwlock.write", "coil_rwlock_acquire_write");

void coil_rwlock_init(coil_rwlock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    *lock = (coil_rwlock)COIL_RWLOCK_INIT;
    coil__waiters_bind_in_debug_mode(&lock->waiters);
}

void coil_rwlock_finish(coil_rwlock *lock)
{
    if (lock != NULL)
        coil__waiters_finish(&lock->waiters, "coil_rwlock_finish");
}

bool coil_rwlock_locked(const coil_rwlock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    return lock->writing || lock->readers > 0;
}

static bool can_acquire(const coil_rwlock *lock, const struct coil__wait_class *class)
{
    return !lock->writing && (class == &read_class || lock->readers == 0);
}

static void take_lock(coil_rwlock *lock, const struct coil__wait_class *class)
{
    if (class == &read_class)
        lock->readers++;
    else
        lock->writing = true;
}

static void give_back(coil_rwlock *lock, const struct coil__wait_class *class)
{
    if (class == &read_class)
        lock->readers--;
    else
        lock->writing = false;
}

/* Return the first waiter that was neither woken nor cancelled, or NULL. */
static struct coil__waiter *first_asleep(const coil_rwlock *lock)
{
    struct coil__waiter *waiter = lock->waiters.asleep;

    while (waiter != NULL && waiter->wait.done)
        waiter = waiter->next;
    return waiter;
}

static void serve_line(coil_rwlock *lock)
{
    struct coil__waiter *first;

    while ((first = first_asleep(lock)) != NULL && can_acquire(lock, first->wait.class)) {
        const struct coil__wait_class *class = first->wait.class;

        if (coil__waiters_wake_one(&lock->waiters))
            take_lock(lock, class);
    }
}

static int acquire(coil_rwlock *lock, const struct coil__wait_class *class)
{
    int rc;

    coil__waiters_check(&lock->waiters, class->call);
    if (can_acquire(lock, class) && first_asleep(lock) == NULL) {
        take_lock(lock, class);
        return 0;
    }
    rc = coil__waiters_wait(&lock->waiters, class, lock);
    if (rc < 0) {
        if (coil__waiter_was_woken())
            give_back(lock, class);
        serve_line(lock);
    }
    return rc;
}

int coil_rwlock_acquire_read(coil_rwlock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    return acquire(lock, &read_class);
}

int coil_rwlock_acquire_write(coil_rwlock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    return acquire(lock, &write_class);
}

int coil_rwlock_release(coil_rwlock *lock)
{
    COIL__REQUIRE(lock, "a lock");
    coil__waiters_check(&lock->waiters, "coil_rwlock_release");
    if (!lock->writing && lock->readers == 0)
        return coil__failed(-EPERM);
    give_back(lock, lock->writing ? &write_class : &read_class);
    serve_line(lock);
    return 0;
}
