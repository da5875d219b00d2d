/*
 * task.h (internal) - a task: a coroutine, a future, and what the loop knows of both.
 */
#ifndef COIL_TASK_TASK_H
#define COIL_TASK_TASK_H

#include "../base/context.h"
#include "../coro/coroutine.h"
#include "future.h"
#include "wait.h"

#include <coil/group.h>
#include <coil/scope.h>
#include <coil/task.h>

#define COIL__NAME_BYTES 32
#define COIL__ARG_BYTES_MAX 2048

/* A scope or a group that is open in a task; they close last in, first out. */
struct coil__region {
    struct coil__region *outer;
    const char *kind;
    const void *address; /* of the code that opened it */
    unsigned depth;      /* 1 for the outermost */
};

/* A region that holds requests from outside it back, until its exit: see region.c. */
struct coil__shield {
    struct coil__shield *outer;
    unsigned depth;
    unsigned held;               /* so many requests */
    bool must_cancel, delivered; /* the task's, for then */
};

/*
 * The control block on top of the task's stack. What a task that waits for I/O and goes
 * on needs of it lies in two lines of the cache: the coroutine's first, and the one that
 * begins with `step` and ends with the loop.
 */
struct coil_task {
    coil__coro coro;
    coil_task_fn fn;
    void *arg;
    struct coil__wait *parking; /* its wait while it is in coil_park() */

    struct coil__runnable step; /* ready, or among the callbacks of what it awaits */
    coil__coro *leaf; /* where to go on: its own coroutine, or a generator in it */
    struct coil__wait
        *wait;           /* what it waits for, until it goes on (asyncio: _fut_waiter) */
    unsigned cancelling; /* requests not taken back */
    int saved_errno;     /* while it does not run */
    bool started;
    bool must_cancel; /* requested, to be delivered at the next step or wait */
    bool passed_on;   /* handed to what it waits for, which may swallow it */
    bool delivered;   /* told; every wait is refused until caught */
    unsigned budget;  /* see budget.h */

    coil_future future;

    struct coil__region *regions; /* innermost first */
    struct coil__shield *shield;  /* likewise */
    unsigned held;                /* of the requests, by all shields */
    unsigned deaf_count;          /* waits refused since the delivery */
    coil_group *group;
    bool borrowed;              /* by whoever spawned it into the group, until exit */
    bool ready;                 /* said coil_group_started() */
    unsigned char marks;        /* src/debug's, while it prints */
    struct coil__wait *starter; /* of coil_group_start(), until it is ready */
    struct coil__runnable group_done;
    struct coil__list group_link;

    struct coil__list link;          /* coil__scheduler.tasks */
    const void *spawned_at;          /* the code that did */
    struct coil__deferred *deferred; /* defer.c: the last one first */
    struct coil__context_slot context;
    struct coil__list leftover_link; /* cancel_leftovers()'s, once the run ends */
    char name[COIL__NAME_BYTES];
    coil_cancel_origin cancel_origin; /* of the latest request */
};

_Static_assert(offsetof(coil_task, step) % 64 == 0 &&
                   offsetof(coil_task, future.loop) == offsetof(coil_task, step) + 56,
               "what a step touches lies in one line of the cache");

/* A region in which `task` must not wait: coil/debug.h. */
struct coil__no_suspend {
    struct coil__no_suspend *outer;
    const coil_task *task;
    const char *why;
};

/* What is one per thread, as the loop is. */
struct coil__scheduler {
    coil_task *current;
    coil__coro *loop_coro;    /* the coroutine that runs the loop, while a task runs */
    coil__coro *eager_return; /* where a task that is being started eagerly comes back to,
                                 at its first wait; else NULL */
    struct coil__no_suspend *no_suspend; /* the innermost region; else NULL */
    struct coil__branch *branch;         /* see cancel.c */
    struct coil__list tasks;             /* that have not ended, oldest first */
    coil_loop *hooked;                   /* the loop it is ready for use with, or NULL */
    bool stop_when_empty;
    char next_name[COIL__NAME_BYTES]; /* of the task to be created: "task-1" */
    size_t next_name_bytes;
    uint64_t spawned; /* on this loop, until now */
    struct coil__close_hook close_hook;
};

extern COIL__THREAD_LOCAL struct coil__scheduler coil__scheduler;

COIL__NORETURN void coil__task_missing(const char *caller);

/* The running task; without one stops the program, naming `caller`. */
static inline coil_task *coil__task_require(const char *caller)
{
    if (COIL__UNLIKELY(coil__scheduler.current == NULL))
        coil__task_missing(caller);
    return coil__scheduler.current;
}

/* Create a task that is not yet ready to run. */
int coil__task_create(coil_task_fn fn, void *arg, const coil_spawn_opts *opts,
                      coil_task **out);

/*
 * Make it run its first step: in the next turn, or, eagerly, now. Then it may have ended
 * when this returns, and be gone, unless the caller has a reference.
 */
void coil__task_start(coil_task *task, bool eagerly);

/* Make the calls of coil_defer(). */
void coil__task_run_deferred(coil_task *task);

/* Leave the task until its `step` is run; it must be ready, or among somebody's
 * callbacks. */
void coil__task_switch_out(coil_task *task);

/* ---- cancellation ----------------------------------------------------------------- */

/* A request of the running task's, or of a callback's, made from `address`. */
coil_cancel_origin coil__cancel_origin_here(const char *reason, const void *address);

/*
 * Ask the task, and what it waits for, to end. `depth` is that of the task's own region
 * that asks; 0 for whoever else.
 */
bool coil__task_cancel(coil_task *task, const coil_cancel_origin *origin, unsigned depth);

/* The same, whatever kind of future it is. */
bool coil__future_cancel(coil_future *future, const coil_cancel_origin *origin);

/* Cancel the wait that the running task begins, with all that hangs on it. */
bool coil__task_cancel_wait(coil_task *task, struct coil__wait *wait);

/* The requests that no shield holds back. */
static inline unsigned coil__task_requests(const coil_task *task)
{
    return task->cancelling - task->held;
}

/* One request less; returns coil__task_requests(). (asyncio: Task.uncancel) */
unsigned coil__task_uncancel(coil_task *task);

/*
 * True, after one turn of the loop, if a cancellation was delivered and not caught: then
 * whatever was about to wait must return -ECANCELED.
 */
bool coil__task_refuses(coil_task *task);

/* What it waits for; NULL if it does not: it runs, is ready to, or has ended. */
const struct coil__wait *coil__task_waits(const coil_task *task);

/* The owner of the group that this future's task is a child of, or NULL. */
coil_task *coil__group_owner(const coil_future *future);

/* A region's children that have not been collected: the one after `child`, or the first;
 * NULL behind the last, and if it is no group. */
coil_task *coil__group_next_child(const struct coil__region *region,
                                  const coil_task *child);

/* The group whose exit waits so, which is closed as a region already; else NULL. */
const struct coil__region *coil__group_waited(const struct coil__wait *wait);

/* ---- regions ---------------------------------------------------------------------- */

void coil__region_enter(coil_task *task, struct coil__region *region, const char *kind,
                        const void *address);
void coil__region_exit(coil_task *task, struct coil__region *region, const char *caller);

/* coil_scope_enter() for the code at `address`. */
int coil__scope_enter(coil_scope *scope, int64_t deadline, const void *address);

/* From now on hold back what is requested from outside `region`, and what has been. */
void coil__shield_enter(coil_task *task, struct coil__shield *shield,
                        const struct coil__region *region);
void coil__shield_exit(coil_task *task, struct coil__shield *shield);

/* True if a shield holds back a request from a region of that depth, and remembers it. */
bool coil__shields_hold(coil_task *task, unsigned depth);

/* Forget a request that is held back. */
void coil__shields_drop(coil_task *task);

#endif
