/*
 * waiters.h - the queue of tasks ("line") that wait for one object, oldest first.
 *
 * A waiter is stored in its task's control block, or on the task's stack. Waking a waiter
 * only completes its wait: as with asyncio's futures, the waiter stays in the line until
 * its task runs and removes it.
 */
#ifndef COIL_SYNC_WAITERS_H
#define COIL_SYNC_WAITERS_H

#include "../task/task.h"

#include <coil/sync.h>

static inline struct coil__waiter *coil__waiters_first(const coil_waiters *waiters)
{
    return (struct coil__waiter *)waiters->first;
}

/* The slow path of coil__waiters_check(). */
void coil__waiters_check_with_care(const coil_waiters *waiters, const char *caller);

/*
 * Abort if the object is bound to a loop of another thread. The message names `caller`.
 * The first task that waits binds the object to its loop. The object stays bound until
 * that loop is closed, even if no task is waiting any more. (asyncio:
 * mixins._LoopBoundMixin) In debug mode the object is also bound when it is initialised
 * on a loop's thread, or first used there.
 */
static inline void coil__waiters_check(const coil_waiters *waiters, const char *caller)
{
    if (COIL__UNLIKELY(waiters->loop != coil__loop_number_of_thread) &&
        (waiters->loop != 0 || coil__loop_number_of_thread == COIL__LOOP_CAREFUL))
        coil__waiters_check_with_care(waiters, caller);
}

/* Called when the object is initialised: in debug mode, bind it to the thread's loop. */
static inline void coil__waiters_bind_in_debug_mode(coil_waiters *waiters)
{
    if (COIL__UNLIKELY(coil__loop_number_of_thread == COIL__LOOP_CAREFUL))
        waiters->loop = coil__loop_of_thread->number;
}

/* Bind the object, whose first waiter this is, to the thread's loop. */
void coil__waiters_bind(coil_waiters *waiters, const struct coil__waiter *waiter);

static inline void coil__waiters_push(coil_waiters *waiters, struct coil__waiter *waiter)
{
    if (COIL__UNLIKELY(waiters->loop != coil__loop_number_of_thread))
        coil__waiters_bind(waiters, waiter);
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

/*
 * Prepare a waiter that completes `wait` when it is woken, without adding it to a line. A
 * task can wait in several lines with a single wait and one such waiter in each line.
 */
void coil__waiter_init_for(struct coil__waiter *waiter, struct coil__wait *wait);

/* Remove the waiter if it is in the line. */
void coil__waiters_remove(coil_waiters *waiters, struct coil__waiter *waiter);

/* Remove the first waiter and return it, or NULL. */
static inline struct coil__waiter *coil__waiters_pop(coil_waiters *waiters)
{
    struct coil__waiter *waiter = coil__waiters_first(waiters);

    if (waiter == NULL)
        return NULL;
    waiter->listed = false;
    if (waiters->asleep == waiter)
        waiters->asleep = waiter->next;
    waiters->first = waiter->next;
    if (waiter->next != NULL)
        waiter->next->prev = NULL;
    else
        waiters->last = NULL;
    return waiter;
}

/* Initializer for the wait class that a function passes to coil__waiters_wait(). */
#define COIL__WAITER_CLASS(name, function)                                               \
    {                                                                                    \
        .what = (name), .call = (function),                                              \
        .object = COIL__WAIT_AT(struct coil__waiter, object)                             \
    }

/*
 * Wait in the line until woken. Returns 0 or -ECANCELED. The waiter is in the task's
 * control block, and is removed from the line at the end. coil__waiter_was_woken()
 * returns whether it was woken before it was cancelled. Task dumps describe the wait by
 * `class` and `object`.
 */
int coil__waiters_wait(coil_waiters *waiters, const struct coil__wait_class *class,
                       const void *object);

/*
 * Like coil__waiters_wait(), with a waiter whose wait has already begun. Inline, because
 * two more calls in coil_queue_put() and coil_queue_get() would cost 3 %.
 */
static inline int coil__waiters_park(coil_waiters *waiters, struct coil__waiter *waiter,
                                     const void *object)
{
    int rc;

    waiter->object = object;
    waiter->listed = false;
    coil__waiters_push(waiters, waiter);
    rc = coil__wait_park(&waiter->wait);
    if (waiter->listed) /* false if a coil_queue has removed the waiter */
        coil__waiters_remove(waiters, waiter);
    return rc;
}

/* Like coil__waiters_wait(), but with a waiter that the caller provides. */
int coil__waiters_wait_as(coil_waiters *waiters, struct coil__waiter *waiter,
                          const struct coil__wait_class *class, const void *object);

static inline bool coil__waiter_woken(const struct coil__waiter *waiter)
{
    return waiter->wait.done && !waiter->wait.cancelled;
}

/* True if the running task's last coil__waiters_wait() ended with a wake-up. */
static inline bool coil__waiter_was_woken(void)
{
    return coil__waiter_woken(&coil__scheduler.current->room.waiter);
}

/* The wait class of waiters that coil__waiter_init_for() has prepared. */
extern const struct coil__wait_class coil__waiter_stands_in;

bool coil__waiter_wake_other(struct coil__waiter *waiter, const char *caller);

/*
 * Wake a waiter. Aborts if called on the wrong thread; the message names `caller`, a
 * public function.
 */
static inline bool coil__waiter_wake_for(struct coil__waiter *waiter, const char *caller)
{
    if (COIL__UNLIKELY(waiter->wait.class == &coil__waiter_stands_in))
        return coil__waiter_wake_other(waiter, caller);
    return coil__wait_complete_for(&waiter->wait, 0, caller);
}

static inline bool coil__waiter_wake(struct coil__waiter *waiter)
{
    return coil__waiter_wake_for(waiter, "waking a task");
}

/* Wake the first waiter that was not woken yet. Returns false if all were woken. */
bool coil__waiters_wake_one(coil_waiters *waiters);

void coil__waiters_wake_all(coil_waiters *waiters);

/* For _finish functions: abort if a task is waiting. */
void coil__waiters_finish(const coil_waiters *waiters, const char *what);

#endif
