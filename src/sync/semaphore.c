/*
 * semaphore.c - a counting semaphore for tasks. (asyncio: locks.Semaphore)
 *
 * The task that wakes a waiter decrements the value on the waiter's behalf. A waiter that
 * is cancelled before it runs increments the value again. When a task's wait ends, the
 * task wakes as many other waiters as the value allows.
 */
#include "waiters.h"

#include <coil/semaphore.h>

void coil_semaphore_init(coil_semaphore *semaphore, size_t value)
{
    COIL__REQUIRE(semaphore, "a semaphore");
    *semaphore = (coil_semaphore)COIL_SEMAPHORE_INIT(value);
    coil__waiters_bind_in_debug_mode(&semaphore->waiters);
}

void coil_semaphore_finish(coil_semaphore *semaphore)
{
    if (semaphore != NULL)
        coil__waiters_finish(&semaphore->waiters, "coil_semaphore_finish");
}

/*
 * Wake the first waiter that was not woken yet, and decrement the value on the waiter's
 * behalf. Returns false if all waiters were woken.
 */
static bool grant_to_next(coil_semaphore *semaphore)
{
    if (!coil__waiters_wake_one(&semaphore->waiters))
        return false;
    semaphore->value--;
    return true;
}

bool coil_semaphore_locked(const coil_semaphore *semaphore)
{
    COIL__REQUIRE(semaphore, "a semaphore");
    if (semaphore->value == 0)
        return true;
    for (struct coil__waiter *w = coil__waiters_first(&semaphore->waiters); w != NULL;
         w = w->next)
        if (!w->wait.cancelled)
            return true;
    return false;
}

int coil_semaphore_acquire(coil_semaphore *semaphore)
{
    COIL__REQUIRE(semaphore, "a semaphore");
    static const struct coil__wait_class class =
        COIL__WAITER_CLASS("semaphore", "coil_semaphore_acquire");
    int rc;

    coil__waiters_check(&semaphore->waiters, "coil_semaphore_acquire");
    if (!coil_semaphore_locked(semaphore)) {
        semaphore->value--;
        return 0;
    }
    rc = coil__waiters_wait(&semaphore->waiters, &class, semaphore);
    if (rc < 0 && coil__waiter_was_woken())
        semaphore->value++;
    while (semaphore->value > 0 && grant_to_next(semaphore))
        ;
    return rc;
}

void coil_semaphore_release(coil_semaphore *semaphore)
{
    COIL__REQUIRE(semaphore, "a semaphore");
    coil__waiters_check(&semaphore->waiters, "coil_semaphore_release");
    semaphore->value++;
    grant_to_next(semaphore);
}

/* ---- bounded ----------------------------------------------------------------------- */

void coil_bounded_semaphore_init(coil_bounded_semaphore *bounded, size_t value)
{
    COIL__REQUIRE(bounded, "a semaphore");
    *bounded = (coil_bounded_semaphore)COIL_BOUNDED_SEMAPHORE_INIT(value);
}

void coil_bounded_semaphore_finish(coil_bounded_semaphore *bounded)
{
    if (bounded != NULL)
        coil__waiters_finish(&bounded->semaphore.waiters,
                             "coil_bounded_semaphore_finish");
}

int coil_bounded_semaphore_acquire(coil_bounded_semaphore *bounded)
{
    COIL__REQUIRE(bounded, "a semaphore");
    coil__waiters_check(&bounded->semaphore.waiters, "coil_bounded_semaphore_acquire");
    return coil_semaphore_acquire(&bounded->semaphore);
}

int coil_bounded_semaphore_release(coil_bounded_semaphore *bounded)
{
    COIL__REQUIRE(bounded, "a semaphore");
    coil__waiters_check(&bounded->semaphore.waiters, "coil_bounded_semaphore_release");
    if (bounded->semaphore.value >= bounded->bound)
        return coil__failed(-EOVERFLOW);
    coil_semaphore_release(&bounded->semaphore);
    return 0;
}

bool coil_bounded_semaphore_locked(const coil_bounded_semaphore *bounded)
{
    COIL__REQUIRE(bounded, "a semaphore");
    return coil_semaphore_locked(&bounded->semaphore);
}
