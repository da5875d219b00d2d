/*
 * future.h (internal) - the future inside futures and tasks.
 */
#ifndef COIL_TASK_FUTURE_H
#define COIL_TASK_FUTURE_H

#include "../loop/loop.h"

#include <coil/future.h>

struct coil_future {
    coil_loop *loop;             /* first: see coil_task */
    struct coil__list callbacks; /* runnables, for when it is done */
    void *value;
    void (*destroy)(void *value);
    const char *cancel_reason;
    coil_error *error; /* what it failed with; of a task that runs, its last: failure.c */
    unsigned refs;
    int rc; /* -EINPROGRESS while pending */
    bool is_task;
    bool unseen; /* failed, and nobody has retrieved that */
    bool quiet;  /* nobody will: not to be reported */
};

void coil__future_init(coil_future *future, coil_loop *loop, bool is_task);

static inline bool coil__future_pending(const coil_future *future)
{
    return future->rc == -EINPROGRESS;
}

/* Leave PENDING: the callbacks go to the ready queue, in order. Never allocates. */
void coil__future_complete(coil_future *future, int rc);

/* Stop the program, naming `caller`, if the running task waits for itself, or for another
 * loop's future. */
void coil__future_check_awaiter(const coil_future *future, const char *caller);

/*
 * Have `runnable` run when the future is done; in the next turn if it is. (asyncio:
 * add_done_callback)
 */
void coil__future_subscribe(coil_future *future, struct coil__runnable *runnable);

/* Tell the exception handler of a failure; it counts as retrieved. */
void coil__future_report_unseen(coil_future *future, const char *message);

/* The rc, which counts as retrieving a failure. */
static inline int coil__future_retrieve(coil_future *future)
{
    future->unseen = false;
    return future->rc;
}

#endif
