/*
 * waiters.c - the queue of tasks ("line") that wait for one object.
 *
 * A waiter that was woken stays in the line until its task runs. All waiters before
 * `asleep` have been woken, so the search for the next waiter to wake starts at `asleep`.
 * So waking n waiters takes linear time, not quadratic time.
 */
#include "waiters.h"

static bool is_ours(const coil_waiters *waiters)
{
    return coil__loop_of_thread != NULL && waiters->loop == coil__loop_of_thread->number;
}

void coil__waiters_check_with_care(const coil_waiters *waiters, const char *caller)
{
    if (waiters->loop != 0 && !is_ours(waiters))
        coil__loop_check_foreign(waiters->loop, caller);
    if (coil__loop_is_debugged()) {
        coil__loop_check_frames(caller);
        coil__waiters_bind_in_debug_mode((coil_waiters *)waiters);
    }
}

/* Not inlined, because `text` would give coil__waiters_wait() a stack protector. */
COIL__NOINLINE void coil__waiters_bind(coil_waiters *waiters,
                                       const struct coil__waiter *waiter)
{
    char text[COIL__WAIT_CALL_BYTES];

    coil__waiters_check(waiters, coil__wait_call(waiter->wait.class, text));
    waiters->loop = coil__loop_of_thread->number;
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

COIL__HOT int coil__waiters_wait(coil_waiters *waiters,
                                 const struct coil__wait_class *class, const void *object)
{
    return coil__waiters_park(waiters, &coil__wait_in_room(class)->waiter, object);
}

int coil__waiters_wait_as(coil_waiters *waiters, struct coil__waiter *waiter,
                          const struct coil__wait_class *class, const void *object)
{
    coil__wait_init(&waiter->wait, class);
    return coil__waiters_park(waiters, waiter, object);
}

const struct coil__wait_class coil__waiter_stands_in = {.what = "several",
                                                        .call = "coil_queue_get_any"};

void coil__waiter_init_for(struct coil__waiter *waiter, struct coil__wait *wait)
{
    coil__wait_init(&waiter->wait, &coil__waiter_stands_in);
    waiter->object = wait;
    waiter->listed = false;
}

bool coil__waiter_wake_other(struct coil__waiter *waiter, const char *caller)
{
    if (!coil__wait_complete_for((struct coil__wait *)waiter->object, 0, caller))
        return false;
    waiter->wait.done = true;
    return true;
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
    const coil_task *task;

    if (COIL__LIKELY(waiters->first == NULL))
        return;
    task = coil__waiters_first(waiters)->wait.task;
    if (!coil__loop_is_parents(
            /* false in a forked child, where the task belongs to the parent */
            task->future.loop))
        coil__misuse("%s: task '%s' still waits for it", what, coil_task_name(task));
}
