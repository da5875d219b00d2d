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
 * An open region of a task: a scope, a group or a containment. Regions are closed in the
 * reverse order of opening. A containment surrounds a call to a function whose misuse
 * must not abort the program: see contain.c.
 */
enum coil__region_kind { COIL__SCOPE, COIL__GROUP, COIL__CONTAINMENT };

/*
 * What a message says about a region that the program forgot to close. This struct is
 * stored in the next outer region, or in the task, because the region itself may be in
 * the frame of a function that has returned, and may have been overwritten.
 */
struct coil__inner_region {
    const void *address; /* address of the code that opened the region */
    enum coil__region_kind kind;
};

struct coil__region {
    struct coil__region *outer;
    const void *address; /* address of the code that opened the region */
    unsigned depth;      /* 1 for the outermost */
    enum coil__region_kind kind : 16;
    bool on_heap : 1;                /* see scope.c */
    struct coil__inner_region inner; /* the latest region entered inside this one */
    void *object; /* bound to the region by coil_region_bind(), or NULL */
};

/*
 * A shield: a region that holds back cancellation requests from outside until its exit.
 * See region.c.
 */
struct coil__shield {
    struct coil__shield *outer;
    unsigned depth;
    unsigned held;               /* requests held back */
    bool must_cancel, delivered; /* the task's values, restored at the exit */
};

/*
 * The origin of a cancellation and its reason. Unlike coil_cancel_origin, this struct
 * points to the task's name instead of containing it.
 */
struct coil__cancel_origin {
    const char *reason;
    const struct coil__name *task; /* the task's name; NULL: a callback, or a scope */
    const void *address;
};

/*
 * A task's control block, at the top of its stack or apart from it. A wait for I/O
 * accesses only two cache lines: the first line of the coroutine, and the line from
 * `step` to the future's loop.
 */
struct coil_task {
    coil__coro coro;
    coil_task_fn fn;
    struct coil__list link;     /* coil__scheduler.tasks */
    struct coil__hooked *hooks; /* NULL if none; see hooks.h */

    /*
     * In the ready queue, or in the callbacks of the future that the task awaits. After a
     * group's child has ended, its `step` serves as the group's done callback.
     */
    struct coil__runnable step;
    /* the coroutine to resume: the task itself, or a generator */
    coil__coro *leaf;
    /* the task's wait, until it is resumed (asyncio: _fut_waiter) */
    struct coil__wait *wait;
    int saved_errno; /* errno while the task is not running */
    bool started : 1;
    bool must_cancel : 1; /* the next step or wait must deliver a cancellation */
    bool passed_on : 1;   /* a cancellation was passed to the wait, which may ignore it */
    bool delivered : 1;   /* a cancellation was delivered: every wait is refused until
                             coil_cancel_caught() */
    unsigned char marks;  /* COIL__TASK_DEBUGGED, and marks of src/debug */
    uint16_t steps;       /* steps of all tasks that used this block: coro/outside.h */

    coil_future future;

    struct coil__name name;
    const void *spawned_at; /* address of the code that spawned the task */

    /* The members that are read when the task's function returns share one cache line. */
    struct coil__deferred *deferred; /* latest first: defer.c */
    struct coil__region *regions;    /* innermost first */
    unsigned cancelling;             /* number of requests not taken back */
    unsigned held;                   /* number of requests held back by shields */
    /* number of waits refused since the cancellation was delivered: wait.c */
    uint16_t refused_waits;
    bool hold_cancel : 1; /* coil_spawn_opts.hold_cancel */
    bool borrowed : 1;  /* the spawner has a pointer to the task until the group's exit */
    bool starting : 1;  /* coil_group_start() waits until the task is ready or ends */
    bool ready : 1;     /* the task has called coil_group_started() */
    bool contained : 1; /* one of its regions is a containment */
    bool leftover : 1;  /* the run has a reference, and waits for the task to end */
    unsigned char outermost_kind : 2; /* enum coil__region_kind; see `outermost` */
    /*
     * The number of done callbacks that an eager child had before it was added to its
     * group. The group's callback runs after these callbacks.
     */
    unsigned char earlier_callbacks;
    uint32_t spawned_by; /* the number of the task that spawned it; 0: a callback */
    coil_group *group;
    struct coil__context_slot context;
    /*
     * Address of the code that made the latest request to cancel the task, even if the
     * request was taken back. NULL if there was none.
     */
    const void *canceller_address;

    const char *canceller_reason;
    struct coil__name canceller_name;
    struct coil__list group_link;
    struct coil__shield *shield; /* the innermost shield */
    const void *outermost;       /* address of the outermost region, if there is one */

    union coil__room room; /* memory for a wait outside the stack */
};

/* A bit of `marks`: the task was spawned in debug mode. */
#define COIL__TASK_DEBUGGED 0x80u

/* The tops of all slots share a few cache sets (coro/stack.c, "Colours"), so each
   additional cache line of a control block competes with lines of all other tasks. */
_Static_assert(sizeof(coil_task) <= 448, "docs/design/light-tasks.md counts on that");

_Static_assert(offsetof(coil_task, step) % 64 == 0 &&
                   offsetof(coil_task, future.refs) == offsetof(coil_task, step) + 56 &&
                   offsetof(coil_task, deferred) % 64 == 0 &&
                   offsetof(coil_task, canceller_reason) % 64 == 0,
               "what a step and its end touch lies in one line of the cache");

/*
 * The innermost region in which `task` must not wait: coil/debug.h. Entering a region
 * saves the previous value of this struct in the region's own memory. That memory is not
 * read while the region is the innermost one: it may no longer exist if the program
 * forgot to exit the region.
 */
struct coil__no_suspend {
    /* the saved value, in the region's memory, or NULL */
    const struct coil__no_suspend *outer;
    const coil_task *task; /* NULL: entered by a callback */
    const char *why;
    /* return address of the call that entered the region; NULL: coil entered it */
    const void *address;
};

/* A round visits all tasks and trims their stacks: see trim.c. */
struct coil__trim_round {
    struct coil__list *next; /* the next task to visit; NULL between rounds */
    size_t visited;
    /* trim the stacks of tasks whose waits began in this interval */
    int64_t after, until;
};

/* The task layer's state for one thread. */
struct coil__scheduler {
    coil_task *current;
    coil__coro *loop_coro;    /* while a task runs: the coroutine that runs the loop */
    coil__coro *eager_return; /* the coroutine that is starting a task eagerly, and is
                                 resumed at that task's first wait; or NULL */
    int *errno_address;       /* &errno of the thread, to avoid a function call */
    struct coil__no_suspend no_suspend;
    unsigned budget; /* budget of the current task: see budget.h */
    bool has_hooks;  /* a task has, or had, hooks */
    /* true if no_suspend.outer, has_hooks or trace is set: all that a switch tests */
    bool careful;
    struct coil__branch *branch; /* see cancel.c */
    /* tasks that have not ended, and leftovers; oldest first */
    struct coil__list tasks;
    coil_loop *hooked; /* the loop to which the scheduler is attached, or NULL */
    /* number of tasks that a run waits for before it ends: see cancel_leftovers() */
    size_t leftover_count;
    uint64_t spawned;          /* tasks spawned on this loop so far */
    struct coil__trace *trace; /* the trace of the loop, or NULL */
    struct coil__close_hook close_hook;
    struct coil__trim_round trim;
};

extern COIL__THREAD_LOCAL struct coil__scheduler coil__scheduler;

/* Return the value that `careful` must have. */
static inline bool coil__scheduler_is_careful(void)
{
    return coil__scheduler.no_suspend.outer != NULL || coil__scheduler.has_hooks ||
           coil__scheduler.trace != NULL;
}

/*
 * Enter and leave a region in which the running task must not wait. Such a region
 * surrounds a call to a user's function during which no other task may run, because coil
 * is iterating over a list or has not finished a transfer. Regions nest. `why` is not
 * copied, so it must stay valid.
 *
 * The two functions use coil__scheduler directly. With a pointer to this variable, gcc's
 * UBSan would test for null using the flags of an addition, and GNU ld replaces that
 * addition with an instruction that sets no flags.
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
    coil__scheduler.careful = coil__scheduler_is_careful();
}

/*
 * Return the task's innermost no_suspend region, or NULL. A region entered by a callback
 * belongs to no task, and encloses the regions of all tasks.
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

/*
 * Describe why the task must not wait, and where the region was entered. Returns `text`,
 * or a string that belongs to the region.
 */
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

/* The running task. Aborts if no task runs. */
static inline coil_task *coil__task_that_waits(const struct coil__wait_class *class)
{
    coil_task *task = coil__scheduler.current;

    if (COIL__UNLIKELY(task == NULL))
        coil__wait_without_task(class);
    return task;
}

/* Begin a wait of the running task in the task's room, and return the room. */
static inline union coil__room *coil__wait_in_room(const struct coil__wait_class *class)
{
    coil_task *task = coil__task_that_waits(class);

    coil__wait_begin(&task->room.wait, task, class);
    return &task->room;
}

/* Create a task that is not yet ready to run. */
int coil__task_create(coil_task_fn fn, void *arg, const coil_spawn_opts *opts,
                      coil_task **out);

/* Free a task whose last reference was released. */
void coil__task_free(coil_task *task);

/* Call the functions registered by coil_defer(). */
void coil__task_run_deferred(coil_task *task);

/*
 * Suspend the task until its `step` is run. The caller must have arranged for the step to
 * become ready.
 */
void coil__task_switch_out(coil_task *task);

/* ---- cancellation ------------------------------------------------------------------ */

/*
 * Return the origin of a request made by the running task or callback. `address` is the
 * address of the requesting code.
 */
struct coil__cancel_origin coil__cancel_origin_here(const char *reason,
                                                    const void *address);

/* Return the origin of the latest request to cancel the task. */
static inline struct coil__cancel_origin coil__task_cancel_origin(const coil_task *task)
{
    return (struct coil__cancel_origin){task->canceller_reason, &task->canceller_name,
                                        task->canceller_address};
}

/*
 * Request the cancellation of the task and of its wait. If a region of the task itself
 * makes the request, `depth` is the region's depth; otherwise it is 0. If the task has
 * ended or its loop is closing, do nothing and return false. When a loop closes, its
 * tasks are not resumed, and other layers may already have released the objects for which
 * the tasks wait.
 */
bool coil__task_cancel(coil_task *task, const struct coil__cancel_origin *origin,
                       unsigned depth);

/* Request the cancellation of a future of any kind. */
bool coil__future_cancel(coil_future *future, const struct coil__cancel_origin *origin);

/* Cancel a wait that the running task is about to begin, and the futures of that wait. */
bool coil__task_cancel_wait(coil_task *task, struct coil__wait *wait);

/* Return the number of requests that are not held back by a shield. */
static inline unsigned coil__task_requests(const coil_task *task)
{
    return task->cancelling - task->held;
}

/*
 * Take back one request. Returns the remaining number, like coil__task_requests().
 * (asyncio: Task.uncancel)
 */
unsigned coil__task_uncancel(coil_task *task);

/*
 * If a cancellation was delivered and not caught, yield for one iteration of the loop and
 * return true. The caller, which was about to wait, must then return -ECANCELED.
 */
bool coil__task_refuses(coil_task *task);

/* True if a cancellation is pending, or was delivered and not caught. */
static inline bool coil__task_is_cancelled(const coil_task *task)
{
    return task->must_cancel || task->delivered;
}

/*
 * Called before a wait for an operation that must not be in flight while the task is
 * cancelled. If the task is cancelled, yield for one iteration of the loop and return
 * -ECANCELED; otherwise return 0.
 */
int coil__task_refuse_wait(void);

/* Return the task's wait, or NULL if the task is running, ready or has ended. */
const struct coil__wait *coil__task_waits(const coil_task *task);

/* Called when a group's child ends: make the child's step the group's callback. */
void coil__group_child_ends(coil_task *child);

/* If the future is a task in a group, return the group's owner; otherwise return NULL. */
coil_task *coil__group_owner(const coil_future *future);

/*
 * Iterate over a group's children, except children whose end the group has already
 * handled. Returns the child after `child`, or the first child if `child` is NULL.
 * Returns NULL after the last child, or if the region is not a group.
 */
coil_task *coil__group_next_child(const struct coil__region *region,
                                  const coil_task *child);

/*
 * If this is the wait in a group's exit, return the group's region, which is already
 * closed; otherwise return NULL.
 */
const struct coil__region *coil__group_waited(const struct coil__wait *wait);

/* ---- regions ----------------------------------------------------------------------- */

void coil__region_enter(coil_task *task, struct coil__region *region,
                        enum coil__region_kind kind, const void *address);

/* Write "a scope open, entered at serve at server.c:12" for the outermost open region. */
const char *coil__region_outermost(const coil_task *task, char *text, size_t size);

void coil__region_exit(coil_task *task, struct coil__region *region, const char *caller);

/*
 * Write "a scope open, entered at ..." for a region. The memory of the region itself may
 * no longer exist.
 */
const char *coil__region_describe(const struct coil__inner_region *region, char *text,
                                  size_t size);

/*
 * Close and free a scope or group that is on the heap and was removed from the task's
 * regions. For a group, the running task waits until the children have ended.
 */
void coil__scope_abandon(struct coil__region *region);
void coil__group_abandon(struct coil__region *region);

/*
 * Call fn(arg) in the running task. If fn misuses coil, or leaves a scope or a group
 * open, close its scopes and groups, and fail with -COIL_EFAILED and the misuse message.
 */
int coil__contain(int (*fn)(void *arg), void *arg);

/* Enter a scope like coil_scope_enter(). Messages name the code at `address`. */
int coil__scope_enter(coil_scope *scope, int64_t deadline, const void *address);

/*
 * True if the region is a scope that has or had a deadline, so that it contains a timer.
 */
bool coil__scope_has_deadline(const struct coil__region *region);

/*
 * Hold back cancellation requests from outside `region`, including earlier requests,
 * until the shield's exit.
 */
void coil__shield_enter(coil_task *task, struct coil__shield *shield,
                        const struct coil__region *region);
void coil__shield_exit(coil_task *task, struct coil__shield *shield);

/*
 * If a shield holds back requests from a region at `depth`, record a request in that
 * shield and return true.
 */
bool coil__shields_hold(coil_task *task, unsigned depth);

/* Drop one request that is held back. */
void coil__shields_drop(coil_task *task);

#endif
