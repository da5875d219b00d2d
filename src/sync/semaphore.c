/*
 * semaphore.c - at most so many tasks at a time. (asyncio: locks.Semaphore)
 *
 * Waking a waiter takes one off the value for it. One that was cancelled after that puts
 * it back, and every task that leaves the line wakes as many others as the value allows.
 */
#include "waiters.h"

#include <coil/semaphore.h>

void coil_semaphore_init(coil_semaphore *semaphore, size_t value)
{
    *semaphore = (coil_semaphore)COIL_SEMAPHORE_INIT(value);
}

void coil_semaphore_finish(coil_semaphore *semaphore)
{
    if (semaphore != NULL)
        coil__waiters_finish(&semaphore->waiters, "coil_semaphore_finish");
}

static bool wake_next(coil_semaphore *semaphore)
{
    if (!coil__waiters_wake_one(&semaphore->waiters))
        return false;
    semaphore->value--;
    return true;
}

bool coil_semaphore_locked(const coil_semaphore *semaphore)
{
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
    static const struct coil__wait_class class = COIL__WAITER_CLASS("semaphore");
    struct coil__waiter waiter;
    int rc;

    if (!coil_semaphore_locked(semaphore)) {
        semaphore->value--;
        return 0;
    }
    rc = coil__waiters_wait(&semaphore->waiters, &waiter, &class, semaphore);
    if (rc < 0 && coil__waiter_woken(&waiter))
        semaphore->value++;
    while (semaphore->value > 0 && wake_next(semaphore))
        ;
    return rc;
}

void coil_semaphore_release(coil_semaphore *semaphore)
{
    semaphore->value++;
    wake_next(semaphore);
}

/* ---- bounded ------------------------------------------------------------------------
 */

void coil_bounded_semaphore_init(coil_bounded_semaphore *bounded, size_t value)
{
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
    return coil_semaphore_acquire(&bounded->semaphore);
}

int coil_bounded_semaphore_release(coil_bounded_semaphore *bounded)
{
    if (bounded->semaphore.value >= bounded->bound)
        return -EOVERFLOW;
    coil_semaphore_release(&bounded->semaphore);
    return 0;
}

bool coil_bounded_semaphore_locked(const coil_bounded_semaphore *bounded)
{
    return coil_semaphore_locked(&bounded->semaphore);
}
