/* future.h (internal) - struct coil_future, which is also a member of each task. */
#ifndef COIL_TASK_FUTURE_H
#define COIL_TASK_FUTURE_H

#include "../base/probe.h"
#include "../loop/loop.h"

#include <coil/future.h>

/* A task's result is only its rc. Other futures also have a value: see future.c. */
struct coil_future {
    /*
     * The first member, because in a task it shares a cache line with members that are
     * read when tasks are switched.
     */
    coil_loop *loop;
    unsigned refs;
    int rc;                      /* -EINPROGRESS while pending */
    struct coil__list callbacks; /* runnables to make ready when the future is done */
    const char *cancel_reason;
    /* the error of a failed future; a running task's last error (see failure.c) */
    coil_error *error;
    bool is_task;
    bool unseen; /* the future failed, and nothing has retrieved the failure */
    bool quiet;  /* never report a failure as unretrieved */
    /* The running task had another failure after `error` was recorded: see failure.c. */
    bool error_is_older;
    uint32_t loop_number; /* to check whether the loop is still open: see loop.c */
};

void coil__future_init(coil_future *future, coil_loop *loop, bool is_task);

static inline bool coil__future_pending(const coil_future *future)
{
    return future->rc == -EINPROGRESS;
}

COIL__NORETURN void coil__future_gone(const char *caller);

/*
 * Abort if the future's loop is open and belongs to another thread. The message names
 * `caller`.
 */
static inline void coil__future_check_thread(const coil_future *future,
                                             const char *caller)
{
    if (COIL__UNLIKELY(future->loop != coil__loop_of_thread))
        coil__loop_check_foreign(future->loop_number, caller);
}

/*
 * For public functions: abort if the future was freed. A freed future is detected only as
 * long as its memory still contains a reference count of 0.
 */
static inline void coil__future_check_gone(const coil_future *future, const char *caller)
{
    if (COIL__UNLIKELY(future->refs == 0))
        coil__future_gone(caller);
}

static inline void coil__future_check(const coil_future *future, const char *caller)
{
    coil__future_check_gone(future, caller);
    coil__future_check_thread(future, caller);
}

/*
 * Like the public functions, but without their checks: for the library's own references.
 */
static inline void coil__future_retain(coil_future *future)
{
    future->refs++;
}

/*
 * Called when the last reference is released: report an unretrieved failure, and free the
 * future.
 */
void coil__future_end(coil_future *future);

static inline void coil__future_release(coil_future *future)
{
    if (--future->refs == 0)
        coil__future_end(future);
}

/* Record in the trace that these runnables become ready. */
void coil__trace_completed(struct coil__trace *trace, const struct coil__list *runnables);

/*
 * Complete the future: move the callbacks to the ready queue, in order. Never allocates.
 */
static inline void coil__future_complete(coil_future *future, int rc)
{
    future->rc = rc;
    future->unseen = rc < 0 && rc != -ECANCELED && !future->quiet;
    if (COIL__UNLIKELY(COIL__USDT || future->loop->trace != NULL))
        coil__trace_completed(future->loop->trace, &future->callbacks);
    coil__loop_add_ready_all(future->loop, &future->callbacks);
}

/*
 * Abort if the running task would await itself or a future of another loop. The message
 * names `caller`.
 */
void coil__future_check_awaiter(const coil_future *future, const char *caller);

/*
 * Run `runnable` when the future is done, or, if the future is already done, in the
 * loop's next iteration. (asyncio: add_done_callback)
 */
void coil__future_subscribe(coil_future *future, struct coil__runnable *runnable);

/* Report the failure to the exception handler, and mark it as retrieved. */
void coil__future_report_unseen(coil_future *future, const char *message);

/* Return the rc, and mark a failure as retrieved. */
static inline int coil__future_retrieve(coil_future *future)
{
    future->unseen = false;
    return future->rc;
}

#endif
