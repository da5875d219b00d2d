/*
 * task.h (internal) - a task: a coroutine with a future for its result.
 */
#ifndef COIL_TASK_TASK_H
#define COIL_TASK_TASK_H

#include "../base/context.h"
#include "../coro/coroutine.h"
#include "future.h"
#include "name.h"
#include "wait.h"

#include <coil/group.h>
#include <coil/scope.h>
#include <coil/task.h>

#define COIL__ARG_BYTES_MAX 2048

/*
 * An open region of a task: regions close in the reverse order of opening. Scopes and
 * groups are regions. A containment surrounds the call of a function whose misuse must
 * not abort the program: contain.c.
 */
enum coil__region_kind { COIL__SCOPE, COIL__GROUP, COIL__CONTAINMENT };

/*
 * Describes an open region, for the message if it is not closed. This struct is in the
 * next outer region, or in the task. The region itself may be on the stack of a function
 * that has returned, and may have been overwritten.
 */
struct coil__inner_region {
    const void *address; /* of the code that opened it */
    enum coil__region_kind kind;
};

struct coil__region {
    struct coil__region *outer;
    const void *address; /* of the code that opened it */
    unsigned depth;      /* 1 for the outermost */
    enum coil__region_kind kind : 16;
    bool apart : 1;                  /* on the heap, as in scope.c */
    struct coil__inner_region inner; /* the region last entered inside this one */
    void *object; /* bound to the region by coil_region_bind(), or NULL */
};

/* A region that holds back requests from outside it, until its exit: see region.c. */
struct coil__shield {
    struct coil__shield *outer;
    unsigned depth;
    unsigned held;               /* requests held back */
    bool must_cancel, delivered; /* the task's, restored at the exit */
};

/*
 * The origin and the reason of a cancellation: coil_cancel_origin, without copying the
 * name.
 */
struct coil__cancel_origin {
    const char *reason;
    const struct coil__name *task; /* NULL: a callback, or a scope */
    const void *address;
};

/*
 * The control block, at the top of the task's stack or apart from it. The members that a
 * wait for I/O uses are in two cache lines: the first line of the coroutine, and the line
 * from `step` to the loop.
 */
struct coil_task {
    coil__coro coro;
    coil_task_fn fn;
    struct coil__list link;     /* coil__scheduler.tasks */
    struct coil__hooked *hooks; /* or NULL; see hooks.h */

    /*
     * In the ready queue, or among the callbacks of the future that the task awaits.
     * After a child of a group has ended, `step` is the group's done
     callback. */
    struct coil__runnable step;
    coil__coro *leaf;        /* the coroutine to resume: its own, or a generator in it */
    struct coil__wait *wait; /* its wait, until it is resumed (asyncio: _fut_waiter) */
    int saved_errno;         /* while it does not run */
    bool started : 1;
    bool must_cancel : 1; /* the next step or wait must deliver a cancellation */
    bool passed_on : 1;  /* a cancellation was passed to the wait, which may swallow it */
    bool delivered : 1;  /* a cancellation was delivered: every wait is refused until
                             coil_cancel_caught() */
    unsigned char marks; /* COIL__TASK_DEBUGGED, and marks of src/debug */
    uint16_t steps;      /* steps of all tasks in this block: see coro/outside.h */

    coil_future future;

    struct coil__name name;
    const void *spawned_at; /* the code that spawned it */

    /* The members that are read when the body ends are in one cache line, too. */
    struct coil__deferred *deferred; /* latest first: defer.c */
    struct coil__region *regions;    /* innermost first */
    unsigned cancelling;             /* requests that were not taken back */
    unsigned held;                   /* requests held back by shields */
    uint16_t deaf_count;             /* waits refused since the delivery: wait.c */
    bool hold_cancel : 1;            /* coil_spawn_opts.hold_cancel */
    bool borrowed : 1;  /* the spawner has a pointer to it until the group's exit */
    bool starting : 1;  /* coil_group_start() waits for it, until `ready` or the end */
    bool ready : 1;     /* the task has called coil_group_started() */
    bool contained : 1; /* a containment is among its regions */
    bool leftover : 1;  /* the end of the run waits for it, and has a reference */
    unsigned char outermost_kind : 2; /* enum coil__region_kind; see `outermost` */
    /* The number of callbacks that an eager child had before it joined its group. The
       group's callback runs after these. */
    unsigned char earlier_callbacks;
    uint32_t spawned_by; /* the number of the task that spawned it; 0: a callback */
    coil_group *group;
    struct coil__context_slot context;
    /* The code that made the latest request to cancel the task, taken back or not. NULL:
       there was no request. */
    const void *asked_at;

    const char *asked_reason;
    struct coil__name asked_by;
    struct coil__list group_link;
    struct coil__shield *shield; /* the innermost */
    const void *outermost;       /* address of the outermost region, if there is one */

    union coil__room room; /* memory for a wait that is not on the stack */
};

/* A bit of `marks`: the task was spawned in debug mode. */
#define COIL__TASK_DEBUGGED 0x80u

/* The tops of all slots share a few cache sets (coro/stack.c, "Colours"). So each further
   line of a control block competes with lines of all other tasks. */
_Static_assert(sizeof(coil_task) <= 448, "docs/design/light-tasks.md counts on that");

_Static_assert(offsetof(coil_task, step) % 64 == 0 &&
                   offsetof(coil_task, future.refs) == offsetof(coil_task, step) + 56 &&
                   offsetof(coil_task, deferred) % 64 == 0 &&
                   offsetof(coil_task, asked_reason) % 64 == 0,
               "what a step and its end touch lies in one line of the cache");

/*
 * The innermost region in which `task` must not wait: coil/debug.h. On entry, the
 * region's own memory receives the previous value of this struct. This copy is not read
 * while the region is the innermost: if the program forgot to exit, that memory no longer
 * exists.
 */
struct coil__no_suspend {
    const struct coil__no_suspend *outer; /* the region's memory; NULL: none */
    const coil_task *task;                /* NULL: entered by a callback */
    const char *why;
    const void *address; /* return address of the entering call; NULL: entered by coil */
};

/* The task layer's state of one thread. */
struct coil__scheduler {
    coil_task *current;
    coil__coro *loop_coro;    /* the coroutine that runs the loop, while a task runs */
    coil__coro *eager_return; /* the coroutine that starts a task eagerly, resumed at the
                                 task's first wait; else NULL */
    struct coil__no_suspend no_suspend;
    unsigned budget; /* budget of the current task: see budget.h */
    bool has_hooks;  /* some task has, or had, hooks */
    bool careful; /* no_suspend.outer or has_hooks is set: one test when switching out */
    struct coil__branch *branch; /* see cancel.c */
    /* tasks that have not ended, or are leftovers; oldest first */
    struct coil__list tasks;
    coil_loop *hooked;     /* the loop to which this is attached, or NULL */
    size_t leftover_count; /* tasks that the end of a run waits for: cancel_leftovers() */
    uint64_t spawned;      /* tasks spawned on this loop so far */
    struct coil__close_hook close_hook;
};

extern COIL__THREAD_LOCAL struct coil__scheduler coil__scheduler;

/*
 * Enter and leave a region in which the running task must not wait. Such a region
 * surrounds a call of a user's function during which no other task may run, because that
 * would break a walk through a list or an unfinished transfer. Regions nest. `why` is
 * stored, not copied.
 *
 * These functions use the name coil__scheduler, not a pointer to it. gcc's UBSan tests
 * such a pointer for null by the flags of an addition, and GNU ld replaces that addition
 * by an instruction that sets no flags.
 */
static inline void coil__no_suspend_enter(struct coil__no_suspend *region,
                                          const char *why)
{
    *region = coil__scheduler.no_suspend;
    coil__scheduler.no_suspend = (struct coil__no_suspend){
        .outer = region, .task = coil__scheduler.current, .why = why};
    coil__scheduler.careful = true;
}

static inline void coil__no_suspend_exit(const struct coil__no_suspend *region)
{
    coil__scheduler.no_suspend = *region;
    coil__scheduler.careful = region->outer != NULL || coil__scheduler.has_hooks;
}

/*
 * The innermost region of the task, or NULL. The regions of a callback do not belong to a
 * task, and are outside of all regions of tasks.
 */
static inline const struct coil__no_suspend *coil__no_suspend_of(const coil_task *task)
{
    const struct coil__no_suspend *region = &coil__scheduler.no_suspend;

    for (; region->outer != NULL; region = region->outer) {
        if (region->task == task)
            return region;
        if (region->task == NULL)
            break;
    }
    return NULL;
}

/* Return why the task must not wait, and where the code entered the region. The result is
 * written to `text`, or borrowed from the region. */
const char *coil__no_suspend_describe(const struct coil__no_suspend *region, char *text,
                                      size_t size);

COIL__NORETURN void coil__task_missing(const char *caller);

/* Return the running task. If no task runs, abort with a message that names `caller`. */
static inline coil_task *coil__task_require(const char *caller)
{
    if (COIL__UNLIKELY(coil__scheduler.current == NULL))
        coil__task_missing(caller);
    return coil__scheduler.current;
}

/* Create a task that is not yet ready to run. */
int coil__task_create(coil_task_fn fn, void *arg, const coil_spawn_opts *opts,
                      coil_task **out);

/* Free a task whose last reference was released. */
void coil__task_free(coil_task *task);

/* Call the functions registered by coil_defer(). */
void coil__task_run_deferred(coil_task *task);

/* Suspend the task until its `step` is run. The step must be in the ready queue, or among
   the callbacks of a future. */
void coil__task_switch_out(coil_task *task);

/* ---- cancellation ------------------------------------------------------------------ */

/* Describe a request by the running task, or by a callback, from the code at
   `address`. */
struct coil__cancel_origin coil__cancel_origin_here(const char *reason,
                                                    const void *address);

/* The latest request to cancel the task. */
static inline struct coil__cancel_origin coil__task_cancel_origin(const coil_task *task)
{
    return (struct coil__cancel_origin){task->asked_reason, &task->asked_by,
                                        task->asked_at};
}

/*
 * Request the cancellation of the task and of its wait. If a region of the task itself
 * makes the request, `depth` is the region's depth; otherwise it is 0. Returns false,
 * without a request, if the task has ended or its loop is closing: the task will not be
 * resumed, and the layers that could cancel its wait have released it.
 */
bool coil__task_cancel(coil_task *task, const struct coil__cancel_origin *origin,
                       unsigned depth);

/* Request the cancellation of any kind of future. */
bool coil__future_cancel(coil_future *future, const struct coil__cancel_origin *origin);

/* Cancel a wait that the running task is about to begin, and all futures it awaits. */
bool coil__task_cancel_wait(coil_task *task, struct coil__wait *wait);

/* The number of requests that no shield holds back. */
static inline unsigned coil__task_requests(const coil_task *task)
{
    return task->cancelling - task->held;
}

/* Take back one request; returns coil__task_requests(). (asyncio: Task.uncancel) */
unsigned coil__task_uncancel(coil_task *task);

/*
 * Return true, after one turn of the loop, if a cancellation was delivered and not
 * caught. The function that was about to wait must then return -ECANCELED.
 */
bool coil__task_refuses(coil_task *task);

/* True if a cancellation is pending, or was delivered and not caught. */
static inline bool coil__task_is_cancelled(const coil_task *task)
{
    return task->must_cancel || task->delivered;
}

/*
 * Called before a wait for an operation that must not be in flight while the task is
 * cancelled. Returns 0, or -ECANCELED after one turn of the loop if the task is
 * cancelled.
 */
int coil__task_refuse_wait(void);

/* Return the task's wait, or NULL if the task is running, ready or has ended. */
const struct coil__wait *coil__task_waits(const coil_task *task);

/* A child of a group ends: make its step the group's callback. */
void coil__group_child_ends(coil_task *child);

/* If the future is a task in a group, return the group's owner; else NULL. */
coil_task *coil__group_owner(const coil_future *future);

/*
 * Iterate over a group's children, without those whose end the group has handled. Returns
 * the child after `child`, or the first one if `child` is NULL. Returns NULL after the
 * last child, and if the region is not a group.
 */
coil_task *coil__group_next_child(const struct coil__region *region,
                                  const coil_task *child);

/*
 * If this is the wait in a group's exit, return the group's region; else NULL. The
 * returned region is closed already.
 */
const struct coil__region *coil__group_waited(const struct coil__wait *wait);

/* ---- regions ----------------------------------------------------------------------- */

void coil__region_enter(coil_task *task, struct coil__region *region,
                        enum coil__region_kind kind, const void *address);

/* Write "a scope open, entered at serve at server.c:12" for the outermost open region. */
const char *coil__region_outermost(const coil_task *task, char *text, size_t size);

void coil__region_exit(coil_task *task, struct coil__region *region, const char *caller);

/*
 * Write "a scope open, entered at ..." for a region, even if its memory no longer exists.
 */
const char *coil__region_describe(const struct coil__inner_region *region, char *text,
                                  size_t size);

/*
 * Close and free a scope or a group on the heap that was removed from the task's regions.
 * A group's owner, the running task, waits until the children have ended.
 */
void coil__scope_abandon(struct coil__region *region);
void coil__group_abandon(struct coil__region *region);

/*
 * Call fn(arg) in the running task. If fn misuses coil, or returns with a scope or a
 * group open, close its scopes and groups and fail with -COIL_EFAILED and the misuse
 * message.
 */
int coil__contain(int (*fn)(void *arg), void *arg);

/* Like coil_scope_enter(), on behalf of the code at `address`. */
int coil__scope_enter(coil_scope *scope, int64_t deadline, const void *address);

/* True if the region is a scope that has, or had, a deadline: it contains a timer. */
bool coil__scope_has_deadline(const struct coil__region *region);

/* Hold back requests from outside `region`, including earlier ones, until the exit. */
void coil__shield_enter(coil_task *task, struct coil__shield *shield,
                        const struct coil__region *region);
void coil__shield_exit(coil_task *task, struct coil__shield *shield);

/* If a shield holds back requests from a region of that depth, record one and return
   true. */
bool coil__shields_hold(coil_task *task, unsigned depth);

/* Drop one request that is held back. */
void coil__shields_drop(coil_task *task);

#endif
