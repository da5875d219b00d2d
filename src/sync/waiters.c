/*
 * waiters.c - the tasks that wait for one thing.
 *
 * Those that were woken stay in the line until they run. So that waking a hundred
 * thousand, one by one, does not walk past them each time, `asleep` remembers how far it
 * has come: all before it are done. It may be done itself.
 */
#include "waiters.h"

void coil__waiters_push(coil_waiters *waiters, struct coil__waiter *waiter)
{
    waiter->next = NULL;
    waiter->prev = waiters->last;
    waiter->listed = true;
    if (waiter->prev != NULL)
        waiter->prev->next = waiter;
    else
        waiters->first = waiter;
    waiters->last = waiter;
    if (waiters->asleep == NULL)
        waiters->asleep = waiter;
}

void coil__waiters_remove(coil_waiters *waiters, struct coil__waiter *waiter)
{
    if (!waiter->listed)
        return;
    waiter->listed = false;
    if (waiters->asleep == waiter)
        waiters->asleep = waiter->next;
    if (waiter->prev != NULL)
        waiter->prev->next = waiter->next;
    else
        waiters->first = waiter->next;
    if (waiter->next != NULL)
        waiter->next->prev = waiter->prev;
    else
        waiters->last = waiter->prev;
}

void coil__waiter_describe(const struct coil__wait *wait, struct coil__waited *out)
{
    out->object = COIL__CONTAINER(wait, const struct coil__waiter, wait)->object;
}

int coil__waiters_wait(coil_waiters *waiters, struct coil__waiter *waiter,
                       const struct coil__wait_class *class, const void *object)
{
    int rc;

    coil__wait_init(&waiter->wait, class);
    waiter->object = object;
    coil__waiters_push(waiters, waiter);
    rc = coil__wait_park(&waiter->wait);
    coil__waiters_remove(waiters, waiter);
    return rc;
}

bool coil__waiters_wake_one(coil_waiters *waiters)
{
    struct coil__waiter *waiter = waiters->asleep;

    while (waiter != NULL && !coil__waiter_wake(waiter))
        waiter = waiter->next;
    waiters->asleep = waiter != NULL ? waiter->next : NULL;
    return waiter != NULL;
}

void coil__waiters_wake_all(coil_waiters *waiters)
{
    while (coil__waiters_wake_one(waiters))
        ;
}

void coil__waiters_finish(const coil_waiters *waiters, const char *what)
{
    if (waiters->first != NULL)
        coil__misuse("%s: task '%s' still waits for it", what,
                     coil__waiters_first(waiters)->wait.task->name);
}
