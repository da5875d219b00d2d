/*
 * future.h (internal) - struct coil_future, which is also a part of each task.
 */
#ifndef COIL_TASK_FUTURE_H
#define COIL_TASK_FUTURE_H

#include "../loop/loop.h"

#include <coil/future.h>

/* A task's result is its rc alone; other futures have a value behind this: future.c. */
struct coil_future {
    /* First, in one cache line with the members that a switch reads: see coil_task. */
    coil_loop *loop;
    unsigned refs;
    int rc;                      /* -EINPROGRESS while pending */
    struct coil__list callbacks; /* runnables that become ready when it is done */
    const char *cancel_reason;
    coil_error *error; /* of its failure; while a task runs, of its last one: failure.c */
    bool is_task;
    bool unseen; /* failed, and the failure was not retrieved */
    bool quiet;  /* never to be reported */
    /* `error` is not of the running task's last failure: failure.c. */
    bool error_is_older;
    uint32_t loop_number; /* shows whether the loop is still open: loop.c */
};

void coil__future_init(coil_future *future, coil_loop *loop, bool is_task);

static inline bool coil__future_pending(const coil_future *future)
{
    return future->rc == -EINPROGRESS;
}

COIL__NORETURN void coil__future_gone(const char *caller);

/* Stop the program, naming `caller`, if the future's loop is open and another thread's. */
static inline void coil__future_check_thread(const coil_future *future,
                                             const char *caller)
{
    if (COIL__UNLIKELY(future->loop != coil__loop_of_thread))
        coil__loop_check_foreign(future->loop_number, caller);
}

/*
 * For public functions: abort if the last reference was released, as far as freed memory
 * shows that.
 */
static inline void coil__future_check_gone(const coil_future *future, const char *caller)
{
    if (COIL__UNLIKELY(future->refs == 0))
        coil__future_gone(caller);
}

/* Both. */
static inline void coil__future_check(const coil_future *future, const char *caller)
{
    coil__future_check_gone(future, caller);
    coil__future_check_thread(future, caller);
}

/* References of the library's own: not checked, which is cheaper. */
static inline void coil__future_retain(coil_future *future)
{
    future->refs++;
}

/* The last reference was released: report an unretrieved failure, and free the future. */
void coil__future_end(coil_future *future);

static inline void coil__future_release(coil_future *future)
{
    if (--future->refs == 0)
        coil__future_end(future);
}

/* Complete it: its callbacks go to the ready queue, in order. Never allocates. */
static inline void coil__future_complete(coil_future *future, int rc)
{
    future->rc = rc;
    future->unseen = rc < 0 && rc != -ECANCELED && !future->quiet;
    coil__loop_add_ready_all(future->loop, &future->callbacks);
}

/* Stop the program, naming `caller`, if the running task waits for itself, or for another
 * loop's future. */
void coil__future_check_awaiter(const coil_future *future, const char *caller);

/*
 * Have `runnable` run when the future is done; in the next turn if it is. (asyncio:
 * add_done_callback)
 */
void coil__future_subscribe(coil_future *future, struct coil__runnable *runnable);

/* Report the failure to the exception handler; it counts as retrieved. */
void coil__future_report_unseen(coil_future *future, const char *message);

/* Return the rc; a failure counts as retrieved. */
static inline int coil__future_retrieve(coil_future *future)
{
    future->unseen = false;
    return future->rc;
}

#endif
