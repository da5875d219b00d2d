/*
 * waiters.h - the tasks that wait for one thing, oldest first.
 *
 * A waiter lies on its task's stack. Waking one only completes its wait: it stays in the
 * list until its task runs and takes it out, as asyncio's futures do, because between
 * the two it still has its place in the line.
 */
#ifndef COIL_SYNC_WAITERS_H
#define COIL_SYNC_WAITERS_H

#include "../task/task.h"

#include <coil/sync.h>

struct coil__waiter {
    struct coil__wait wait;
    const void *object; /* what has the line: the lock, the queue */
    struct coil__waiter *prev, *next;
    bool listed;
};

static inline struct coil__waiter *coil__waiters_first(const coil_waiters *waiters)
{
    return (struct coil__waiter *)waiters->first;
}

void coil__waiters_push(coil_waiters *waiters, struct coil__waiter *waiter);

/* Take it out, if it is in. */
void coil__waiters_remove(coil_waiters *waiters, struct coil__waiter *waiter);

/* A kind of wait by this, for coil__waiters_wait(). */
#define COIL__WAITER_CLASS(name)                                                         \
    {                                                                                    \
        .what = (name), .describe = coil__waiter_describe                                \
    }

void coil__waiter_describe(const struct coil__wait *wait, struct coil__waited *out);

/*
 * Stand in line until woken: 0, or -ECANCELED. The waiter, initialised here, is out of
 * the list afterwards; whether it was woken before it was cancelled, coil__waiter_woken()
 * says. `class` and `object` tell what the task waits for.
 */
int coil__waiters_wait(coil_waiters *waiters, struct coil__waiter *waiter,
                       const struct coil__wait_class *class, const void *object);

static inline bool coil__waiter_woken(const struct coil__waiter *waiter)
{
    return waiter->wait.done && !waiter->wait.cancelled;
}

static inline bool coil__waiter_wake(struct coil__waiter *waiter)
{
    return coil__wait_complete(&waiter->wait, 0);
}

/* Wake the first that is not awake yet; false if there is none. */
bool coil__waiters_wake_one(coil_waiters *waiters);

void coil__waiters_wake_all(coil_waiters *waiters);

/* For _finish functions: stops the program if somebody waits. */
void coil__waiters_finish(const coil_waiters *waiters, const char *what);

#endif
