/*
 * task.h (internal) - a task: a coroutine and the future of its result.
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
 * A scope or a group that is open in a task; they close last in, first out. A containment
 * is around the calls of a function whose misuse must not stop the program: contain.c.
 */
enum coil__region_kind { COIL__SCOPE, COIL__GROUP, COIL__CONTAINMENT };

/*
 * Describes an open region, for the message if it is not closed. This struct is in the
 * next outer region, or in the task. The region's own memory may have been overwritten by
 * then, because it is on the stack of a function that has returned.
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
    struct coil__inner_region inner; /* the one entered last inside this one */
    void *object; /* that coil_region_bind() has bound to it, or NULL */
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
 * wait for I/O uses are in two cache lines: the coroutine's first, and the one from
 * `step` to the loop.
 */
struct coil_task {
    coil__coro coro;
    coil_task_fn fn;
    struct coil__list link;     /* coil__scheduler.tasks */
    struct coil__hooked *hooks; /* or NULL; see hooks.h */

    /*
     * In the ready queue, or among the callbacks of the future that the task awaits. Once
     * a child of a group has ended, the group's callback.
     */
    struct coil__runnable step;
    coil__coro *leaf;        /* the coroutine to resume: its own, or a generator in it */
    struct coil__wait *wait; /* its wait, until it is resumed (asyncio: _fut_waiter) */
    int saved_errno;         /* while it does not run */
    bool started;
    bool must_cancel; /* a cancellation is to be delivered at the next step or wait */
    bool passed_on;   /* a cancellation was passed to the wait, which may swallow it */
    bool delivered;   /* a cancellation was delivered: every wait is refused until
                         coil_cancel_caught() */

    coil_future future;

    struct coil__name name;
    const void *spawned_at; /* the code that spawned it */

    /* The members that the end of a body reads are in one cache line, too. */
    struct coil__deferred *deferred; /* defer.c: the last call first */
    struct coil__region *regions;    /* innermost first */
    unsigned cancelling;             /* requests not taken back */
    unsigned held;                   /* those of them that shields hold back */
    uint16_t deaf_count;             /* waits refused since the delivery: wait.c */
    unsigned char outermost_kind;    /* enum coil__region_kind; see `outermost` */
    unsigned char marks;             /* COIL__TASK_DEBUGGED; and those of src/debug */
    bool hold_cancel : 1;            /* coil_spawn_opts.hold_cancel */
    bool borrowed : 1;  /* the spawner has a pointer to it until the group's exit */
    bool starting : 1;  /* coil_group_start() waits for it, until `ready` or the end */
    bool ready : 1;     /* it has called coil_group_started() */
    bool contained : 1; /* a containment is among its regions */
    bool leftover : 1;  /* the end of the run waits for it, and has a reference */
    /* The callbacks that an eager child has had before it came into its group: the
       group's runs behind them. */
    unsigned char earlier_callbacks;
    coil_group *group;
    struct coil__context_slot context;
    const void *asked_at; /* the latest request to cancel it, taken back or not: there was
                             none if this is NULL */

    const char *asked_reason;
    struct coil__name asked_by;
    struct coil__list group_link;
    struct coil__shield *shield; /* the innermost */
    const void *outermost;       /* the outermost region's address, while there is one */

    union coil__room room; /* for its wait, if that does not lie on the stack */
};

/* In `marks`: it was spawned in debug mode. */
#define COIL__TASK_DEBUGGED 0x80u

/* The tops of all slots share a few sets of the cache (coro/stack.c, "Colours"): each
   further line of a control block competes with those of all tasks. */
_Static_assert(sizeof(coil_task) <= 448, "docs/design/light-tasks.md counts on that");

_Static_assert(offsetof(coil_task, step) % 64 == 0 &&
                   offsetof(coil_task, future.refs) == offsetof(coil_task, step) + 56 &&
                   offsetof(coil_task, deferred) % 64 == 0 &&
                   offsetof(coil_task, asked_reason) % 64 == 0,
               "what a step and its end touch lies in one line of the cache");

/*
 * The innermost region in which `task` must not wait: coil/debug.h. The region's own
 * memory keeps what was innermost before: it is not read while the region is the
 * innermost, since it is gone if the region was forgotten.
 */
struct coil__no_suspend {
    const struct coil__no_suspend *outer; /* the region's memory; NULL: none */
    const coil_task *task;                /* NULL: it is a callback's */
    const char *why;
    const void *address; /* behind the call that entered it; NULL: coil itself did */
};

/* The state of tasks that each thread has once, like its loop. */
struct coil__scheduler {
    coil_task *current;
    coil__coro *loop_coro;    /* the coroutine that runs the loop, while a task runs */
    coil__coro *eager_return; /* the coroutine that starts a task eagerly, resumed at the
                                 task's first wait; else NULL */
    struct coil__no_suspend no_suspend;
    unsigned budget; /* of the current task: see budget.h */
    bool has_hooks;  /* a task has, or had, hooks */
    bool careful; /* no_suspend.outer or has_hooks is set: one test when switching out */
    struct coil__branch *branch; /* see cancel.c */
    struct coil__list tasks;     /* not ended, or leftovers; oldest first */
    coil_loop *hooked;           /* the loop for which it is set up, or NULL */
    size_t leftover_count; /* tasks that the end of a run waits for: cancel_leftovers() */
    uint64_t spawned;      /* tasks spawned on this loop so far */
    struct coil__close_hook close_hook;
};

extern COIL__THREAD_LOCAL struct coil__scheduler coil__scheduler;

/*
 * Enter and leave a region in which the running task must not wait. It surrounds a call
 * of a user's function during which no other task may run, because that would break a
 * walk through a list or an unfinished transfer. Regions nest. `why` is kept, not copied.
 *
 * These use the name coil__scheduler, not a pointer to it: gcc's UBSan tests such a
 * pointer for null by the flags of an addition, which GNU ld replaces by an instruction
 * that sets no flags.
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

/* The running task. Without one it aborts with a message that names `caller`. */
static inline coil_task *coil__task_require(const char *caller)
{
    if (COIL__UNLIKELY(coil__scheduler.current == NULL))
        coil__task_missing(caller);
    return coil__scheduler.current;
}

/* Create a task that is not yet ready to run. */
int coil__task_create(coil_task_fn fn, void *arg, const coil_spawn_opts *opts,
                      coil_task **out);

/* The last reference has gone. */
void coil__task_free(coil_task *task);

/* Make the calls of coil_defer(). */
void coil__task_run_deferred(coil_task *task);

/* Leave the task until its `step` is run; it must be ready, or among the callbacks of a
   future. */
void coil__task_switch_out(coil_task *task);

/* ---- cancellation ------------------------------------------------------------------ */

/* A request of the running task's, or of a callback's, made from `address`. */
struct coil__cancel_origin coil__cancel_origin_here(const char *reason,
                                                    const void *address);

/* The latest request to cancel the task. */
static inline struct coil__cancel_origin coil__task_cancel_origin(const coil_task *task)
{
    return (struct coil__cancel_origin){task->asked_reason, &task->asked_by,
                                        task->asked_at};
}

/*
 * Request the cancellation of the task and of its wait. `depth` is the depth of the
 * task's own region that requests it; 0 for any other origin. Returns false, without a
 * request, if the task has ended or its loop is closing: the task will not be resumed,
 * and the layers that could cancel its wait have released it.
 */
bool coil__task_cancel(coil_task *task, const struct coil__cancel_origin *origin,
                       unsigned depth);

/* The same for any kind of future. */
bool coil__future_cancel(coil_future *future, const struct coil__cancel_origin *origin);

/* Cancel the wait that the running task begins, and all futures that it awaits. */
bool coil__task_cancel_wait(coil_task *task, struct coil__wait *wait);

/* The number of requests that no shield holds back. */
static inline unsigned coil__task_requests(const coil_task *task)
{
    return task->cancelling - task->held;
}

/* Take back one request; returns coil__task_requests(). (asyncio: Task.uncancel) */
unsigned coil__task_uncancel(coil_task *task);

/*
 * True, after one turn of the loop, if a cancellation was delivered and not caught: then
 * the function that was about to wait must return -ECANCELED.
 */
bool coil__task_refuses(coil_task *task);

/* Is a cancellation to be delivered, or was one delivered and not caught? */
static inline bool coil__task_is_cancelled(const coil_task *task)
{
    return task->must_cancel || task->delivered;
}

/*
 * For a call that is about to wait for an operation that must not be in flight while the
 * task is cancelled. Returns 0; or -ECANCELED, after one turn of the loop, if it is.
 */
int coil__task_refuse_wait(void);

/* The task's wait; NULL if the task runs, is ready or has ended. */
const struct coil__wait *coil__task_waits(const coil_task *task);

/* The child of a group ends: its step becomes the group's callback. */
void coil__group_child_ends(coil_task *child);

/* The owner of the group that this future's task is a child of, or NULL. */
coil_task *coil__group_owner(const coil_future *future);

/*
 * The region's child after `child`, or the first for NULL, of those whose end the group
 * has not handled. Returns NULL after the last, and if the region is not a group.
 */
coil_task *coil__group_next_child(const struct coil__region *region,
                                  const coil_task *child);

/*
 * The region of the group in whose exit this wait is; else NULL. The region is closed
 * already.
 */
const struct coil__region *coil__group_waited(const struct coil__wait *wait);

/* ---- regions ----------------------------------------------------------------------- */

void coil__region_enter(coil_task *task, struct coil__region *region,
                        enum coil__region_kind kind, const void *address);

/* Writes "a scope open, entered at serve at server.c:12" of the outermost open region. */
const char *coil__region_outermost(const coil_task *task, char *text, size_t size);

void coil__region_exit(coil_task *task, struct coil__region *region, const char *caller);

/* Writes "a scope open, entered at ..." of a region, whose memory may be gone. */
const char *coil__region_describe(const struct coil__inner_region *region, char *text,
                                  size_t size);

/*
 * Close a scope or a group that lies apart and was removed from the task's regions, and
 * free it. For a group the running task, its owner, waits until the children have ended.
 */
void coil__scope_abandon(struct coil__region *region);
void coil__group_abandon(struct coil__region *region);

/*
 * Call fn(arg) in the running task. If it misuses coil, or returns with a scope or a
 * group open, those are closed. The result is then -COIL_EFAILED with the sentence.
 */
int coil__contain(int (*fn)(void *arg), void *arg);

/* coil_scope_enter() for the code at `address`. */
int coil__scope_enter(coil_scope *scope, int64_t deadline, const void *address);

/* True if it is a scope that has, or had, a deadline: it contains its timer. */
bool coil__scope_has_deadline(const struct coil__region *region);

/* Hold back requests from outside `region`, earlier ones included, until the exit. */
void coil__shield_enter(coil_task *task, struct coil__shield *shield,
                        const struct coil__region *region);
void coil__shield_exit(coil_task *task, struct coil__shield *shield);

/* True if a shield holds back a request from a region of that depth, and remembers it. */
bool coil__shields_hold(coil_task *task, unsigned depth);

/* Forget a request that is held back. */
void coil__shields_drop(coil_task *task);

#endif
