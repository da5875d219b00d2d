/* loop.h (internal) - the loop's interface for upper layers: runnables, timers, posts. */
#ifndef COIL_LOOP_LOOP_H
#define COIL_LOOP_LOOP_H

#include "../coro/coroutine.h"
#include "backend/backend.h"
#include "deadlock.h"
#include "exception.h"
#include "slow.h"
#include "stall.h"
#include "timer.h"
#include "trace.h"
#include "trace_file.h"
#include "wakeup.h"
#include "watch.h"

#include <coil/loop.h>

#include <pthread.h>
#include <stdatomic.h>

/* Functions of the task layer, which is above the loop, that the loop calls. */
struct coil__task_layer {
    const char *(*name)(const coil_task *task);
    struct coil__context_slot *(*context)(coil_task *task);
    coil_task *(*exchange_current)(coil_task *task); /* returns the previous task */
    /*
     * Return the task of which the runnable is the next step, or NULL if it is not a
     * step.
     */
    const coil_task *(*stepping)(const struct coil__runnable *runnable);
    /* Return the return address of the call that spawned the task. */
    const void *(*spawned_at)(const coil_task *task);
    /*
     * If tasks are waiting, report the deadlock and return true. Called when no event can
     * happen any more.
     */
    bool (*stuck)(coil_loop *loop);
    /* Like stepping(), but return the task's number, or 0. */
    uint32_t (*number)(const struct coil__runnable *runnable);
    /* Called when a trace starts or stops: see trace.h. */
    void (*traced)(coil_loop *loop);
    /* Call visit() for each task. */
    void (*each)(coil_loop *loop, coil__trace_visit_task *visit, void *arg);
    /* Called before the loop waits, if clock_read has reached loop->trim_at. */
    void (*trim)(coil_loop *loop);
    /*
     * Called in a child of fork(2), where no task may run, because all tasks belong to
     * the parent. Must be async-signal-safe.
     */
    void (*forked)(void);
};

/* NULL until the process creates its first task. */
extern const struct coil__task_layer *_Atomic coil__task_layer;

/* The part of a loop that is used only in a child of fork(2). Private to fork.c. */
struct coil__fork {
    struct coil__list put_aside; /* runnables that were ready at the fork; never run */
    struct coil__backend *backend;
};

#define COIL__POLLED_BUCKETS 64

/*
 * A loop. The structs among its members belong to other files of this folder. loop.c
 * explains turns. Upper layers use the functions below.
 */
struct coil_loop {
    struct coil__list ready; /* runnables of the next turn */
    struct coil__list batch; /* runnables that this turn has not run yet */
    struct coil__list idle;  /* runnables that become ready once nothing else is ready */
    struct coil__trace *trace; /* NULL: the loop is not being traced */
    struct coil__backend *backend;
    struct coil__timer_heap timers;

    pid_t pid; /* the process that created the loop, not a child of it */
    /* never 0; identifies the loop: unlike an address, not reused in this process */
    uint32_t number;
    uint32_t number_in_checks; /* `number`, or COIL__LOOP_CAREFUL in debug mode */
    bool running, stopping, closing;
    bool guest; /* coil_guest_step() is running, so the loop must not wait */
    bool virtual_clock;
    bool may_skip_polls;   /* false with a virtual clock, unless skip_polls is set */
    bool polls_every_turn; /* see coil__loop_choose_turns() */
    bool debug;            /* debug mode */
    bool light_tasks;      /* new tasks are light by default: see task/create.c */
    unsigned turns_unpolled, runs_unpolled; /* counted since the last poll */

    /* Used by is_poll_due() and choose_turns_per_reading() in loop.c. */
    unsigned next_reading;      /* value of turns_unpolled at the next clock reading */
    unsigned turns_per_reading; /* number of turns between two readings of the clock */
    unsigned
        turns_at_reading; /* number of turns from the last poll to the last reading */
    bool poll_next;       /* the next turn begins with a poll */
    int64_t last_reading; /* time of the last reading or poll */
    int64_t polled_at;    /* time of the last poll */
    /* after a long turn: read the clock more often until this time */
    int64_t read_often_until;

    int64_t trim_at;    /* when to call coil__task_layer->trim() */
    int64_t clock_read; /* the clock's latest reading */
    int64_t virtual_now;
    uint64_t polls, turns, runs;            /* counted up to the last poll */
    uint64_t operations, operations_waited; /* submitted; not complete at once */
    uint64_t shuffle; /* state of testing/shuffle.c; 0: the batch keeps its order */
    int64_t slack;    /* coil_loop_opts.timer_slack_ns; 0: none */
    int64_t slack_over_thread; /* `slack` minus the thread's timer slack, or 0 */
    int64_t drain_ns;          /* how long coil_loop_close() waits for abandoned jobs */
    struct coil__list close_hooks;
    _Atomic unsigned refs;

    struct coil__wakeup wakeup;
    struct coil__slow slow;
    struct coil__stall stall;
    struct coil__descriptors *descriptors; /* the backend's table */
    struct coil__exception exception;
    struct coil__deadlock deadlock;
    struct coil__fork fork;
    struct coil__trace *trace_kept; /* `trace`, or the stopped trace, or NULL */
    /*
     * The descriptors for which coil_poll() waits, hashed by number: io/poll.c. Not a
     * thread-local variable: see COIL__THREAD_LOCAL.
     */
    struct coil__list polled[COIL__POLLED_BUCKETS];

    /* For tools: coro/outside.h. */
    pid_t thread;                      /* the kernel's id */
    struct coil__scheduler *scheduler; /* the tasks' scheduler, or NULL */
    const struct coil__coro_thread *coros;
};

extern COIL__THREAD_LOCAL coil_loop *coil__loop_of_thread;

/*
 * The number of the thread's loop, or 0 if there is no loop. Locks and queues compare
 * this variable with the number that they store, and need not load anything from the
 * loop. In debug mode the value is COIL__LOOP_CAREFUL, which is not the number of any
 * loop, so each check takes the slow path (sync/waiters.c).
 */
extern COIL__THREAD_LOCAL uint32_t coil__loop_number_of_thread;

#define COIL__LOOP_CAREFUL UINT32_MAX

static inline void coil__loop_set_of_thread(coil_loop *loop)
{
    coil__loop_of_thread = loop;
    coil__loop_number_of_thread = loop != NULL ? loop->number_in_checks : 0;
}

/* True if the thread's loop is in debug mode. */
static inline bool coil__loop_is_debugged(void)
{
    return coil__loop_of_thread != NULL && coil__loop_of_thread->debug;
}

/* ---- signal handlers --------------------------------------------------------------- */

/*
 * The thread's loop while it waits in the kernel; otherwise NULL. During the wait,
 * coil__loop_of_thread is NULL, and only signal handlers can run on this thread. If a
 * signal handler calls a function of coil, the function finds no loop and aborts with a
 * message.
 */
extern COIL__THREAD_LOCAL coil_loop *coil__loop_in_kernel;

/*
 * A backend calls coil__loop_enter_kernel() before the system call in which it waits, and
 * coil__loop_leave_kernel() after it.
 */
static inline void coil__loop_enter_kernel(void)
{
    coil__loop_in_kernel = coil__loop_of_thread;
    coil__loop_set_of_thread(NULL);
}

/*
 * If a signal handler forked during the wait, coil__loop_in_kernel is NULL in the child:
 * see fork.c.
 */
static inline void coil__loop_leave_kernel(void)
{
    if (COIL__LIKELY(coil__loop_in_kernel != NULL))
        coil__loop_set_of_thread(coil__loop_in_kernel);
    coil__loop_in_kernel = NULL;
}

COIL__NORETURN void coil__loop_stop_handler(const char *caller);

/*
 * Abort if called from a signal handler that has interrupted a turn, even if the handler
 * runs on the task's own stack. Used only in debug mode, because searching the innermost
 * frames takes a few microseconds.
 */
void coil__loop_check_frames(const char *caller);

/*
 * Abort with `caller` in the message if called from a signal handler that has interrupted
 * a task and runs on the alternate signal stack. A signal handler that runs on the task's
 * own stack is detected only in debug mode.
 */
static inline void coil__loop_check_stack(const char *caller)
{
    if (COIL__UNLIKELY(coil__coro_off_stack()) && coil__coro_in_handler())
        coil__loop_stop_handler(caller);
    if (COIL__UNLIKELY(coil__loop_is_debugged()))
        coil__loop_check_frames(caller);
}

/*
 * Like coil__loop_check_stack(), but also abort if the handler has interrupted the loop's
 * wait in the kernel.
 */
static inline void coil__loop_check_handler(const char *caller)
{
    if (COIL__UNLIKELY(coil__loop_in_kernel != NULL))
        coil__loop_stop_handler(caller);
    coil__loop_check_stack(caller);
}

/*
 * Called before a loop is created. In a child of vfork(2) or clone(2), where the fork
 * handler has not run, this function clears the pointers to the parent's loop, so that
 * the child can create its own.
 */
void coil__loop_forget_parents(void);

/* ---- fork.c ------------------------------------------------------------------------ */

/* The process id. Updated in a child of fork(2), and when a loop is created. */
extern _Atomic pid_t coil__process;

/*
 * In a child of fork(2): the loop that the thread had in the parent, or NULL if it had
 * none. NULL in other processes.
 */
extern COIL__THREAD_LOCAL coil_loop *coil__loop_of_parent;

/* Install the fork handler, which disables the parent's loop in a child. */
void coil__fork_watch(void);

/* Abort because `caller` was about to use the parent's loop. */
COIL__NORETURN void coil__fork_misuse(const char *caller);

/* Return coil__loop_of_parent, or abort if this is NULL. */
coil_loop *coil__loop_require_parents(const char *caller);

/*
 * Return the loop on which to cancel or remove a request: the thread's loop or, in a
 * child of fork(2) that has no loop, the parent's loop, where removing a request only
 * frees memory. Aborts if neither loop exists. In a child that has its own loop, a
 * request that is not found there may be on coil__loop_of_parent.
 */
static inline coil_loop *coil__loop_to_undo(const char *caller)
{
    return COIL__LIKELY(coil__loop_of_thread != NULL)
               ? coil__loop_of_thread
               : coil__loop_require_parents(caller);
}

COIL__NORETURN void coil__loop_missing(const char *caller);

/* Return the thread's loop. If there is none, aborts with `caller` in the message. */
static inline coil_loop *coil__loop_require(const char *caller)
{
    if (COIL__UNLIKELY(coil__loop_of_thread == NULL))
        coil__loop_missing(caller);
    return coil__loop_of_thread;
}

/* Abort with `caller` in the message if the loop does not belong to this thread. */
void coil__loop_require_own(const coil_loop *loop, const char *caller);

/*
 * True if this is a child of fork(2), and the loop belongs to its parent. The objects of
 * such a loop must not be changed.
 */
static inline bool coil__loop_is_parents(const coil_loop *loop)
{
    return loop->pid != atomic_load_explicit(&coil__process, memory_order_relaxed);
}

/* Abort because an object of `loop` was used on another thread, or in a child process. */
COIL__NORETURN void coil__loop_wrong_thread(const coil_loop *loop, const char *caller);

/*
 * Abort if `loop` is not this thread's loop. All code that makes a runnable ready calls
 * this function, because other threads must use a post instead. Public functions that
 * might be called on the wrong thread call it first, so that the message contains their
 * name.
 */
static inline void coil__loop_check_thread(const coil_loop *loop, const char *caller)
{
    if (COIL__UNLIKELY(loop != coil__loop_of_thread))
        coil__loop_wrong_thread(loop, caller);
}

/*
 * Abort if the loop with the number `number`, which is not this thread's loop, is open:
 * in that case an object of that loop is being used on the wrong thread. Once the loop is
 * closed, any thread may use and free its objects.
 */
void coil__loop_check_foreign(uint32_t number, const char *caller);

/*
 * Remove all loops from the list of open loops. Called in a child of fork(2).
 * Async-signal-safe.
 */
void coil__loops_forget(void);

/* Append the runnable, which must not be in a list, to the ready queue. */
static inline void coil__loop_add_ready(coil_loop *loop, struct coil__runnable *runnable)
{
    coil__loop_check_thread(loop, "waking a task");
    coil__list_push(&loop->ready, &runnable->link);
}

/* Append all runnables of a list to the ready queue, in order, and empty the list. */
static inline void coil__loop_add_ready_all(coil_loop *loop, struct coil__list *runnables)
{
    coil__loop_check_thread(loop, "completing a future");
    coil__list_splice(&loop->ready, runnables);
}

int64_t coil__loop_now(coil_loop *loop);

/*
 * Call this just before a user's callback. `requested_by` is the address of the code that
 * requested the callback, or NULL.
 */
static inline void coil__loop_calls(coil_loop *loop, const void *callback,
                                    const void *requested_by)
{
    loop->slow.callback = callback;
    loop->slow.requested_by = requested_by;
    if (COIL__UNLIKELY(loop->trace != NULL) && callback != NULL)
        coil__trace_put(loop->trace, COIL__TRACE_CALLS, (uintptr_t)callback, 0, 0);
}

/*
 * Add `change` (1 or -1) to the number of jobs that are running on threads and will end
 * with a post. While there are such jobs, a virtual clock does not advance.
 */
static inline void coil__loop_expect(coil_loop *loop, int change)
{
    loop->deadlock.outside_work += (size_t)change;
}

/* ---- turns ------------------------------------------------------------------------- */

#define COIL__LONGEST_POLL COIL_SEC(24 * 3600)

/*
 * Return how long to wait for a timer that is due in `span_ns`: `span_ns` plus the loop's
 * slack, but at most a day. `exactly` is true if the kernel does not add the thread's
 * timer slack. If `span_ns` is 0 or less, its computation has overflowed, so return a
 * day.
 */
static inline int64_t coil__loop_wait_for(const coil_loop *loop, int64_t span_ns,
                                          bool exactly)
{
    int64_t slack = exactly ? loop->slack : loop->slack_over_thread;

    return span_ns > 0 && span_ns < COIL__LONGEST_POLL - slack ? span_ns + slack
                                                               : COIL__LONGEST_POLL;
}

/*
 * Poll the backend. A post ends the wait. If there already is a post, polls without
 * waiting.
 */
int coil__loop_poll(coil_loop *loop, int64_t timeout_ns);

#define COIL__TURNS_UNPOLLED 64
#define COIL__RUNS_UNPOLLED 256
/*
 * The limit while the loop has neither a descriptor nor a timer. In that case the only
 * use of a poll is to notice that a tool has requested a trace.
 */
#define COIL__RUNS_UNPOLLED_ALONE 65536

/* Make the next turn read the clock. Called when a new timer is the earliest. */
static inline void coil__loop_read_clock_soon(coil_loop *loop)
{
    loop->turns_per_reading = 1;
    loop->next_reading = 0;
}

/* Make the next turn poll. Called after a task has done a lot of I/O in one step. */
static inline void coil__loop_poll_next(coil_loop *loop)
{
    loop->poll_next = true;
    loop->next_reading = 0;
}

/* True if the next turn may begin without a poll. False if no runnable is ready. */
static inline bool coil__loop_may_skip_poll(const coil_loop *loop)
{
    if (coil__list_empty(&loop->ready) || loop->polls_every_turn || loop->stopping ||
        coil__wakeup_pending(&loop->wakeup))
        return false;
    if (loop->backend->in_use > 0 || coil__timers_count(&loop->timers) > 0)
        return loop->turns_unpolled < loop->next_reading &&
               loop->runs_unpolled < COIL__RUNS_UNPOLLED;
    return loop->runs_unpolled < COIL__RUNS_UNPOLLED_ALONE;
}

/* Begin a turn without a poll: move the ready runnables to the batch. */
static inline void coil__loop_begin_batch(coil_loop *loop)
{
    loop->turns_unpolled++;
    coil__list_splice(&loop->batch, &loop->ready);
}

/*
 * If the poll may be skipped, begin the next turn and return true. Otherwise return
 * false: in that case loop.c must begin the next turn, usually with a poll. Called when
 * the batch is empty.
 */
static inline bool coil__loop_begin_unpolled_turn(coil_loop *loop)
{
    if (!coil__loop_may_skip_poll(loop))
        return false;
    coil__loop_begin_batch(loop);
    return true;
}

/*
 * Recompute polls_every_turn. Called after a change to one of the members from which this
 * function computes it.
 */
static inline void coil__loop_choose_turns(coil_loop *loop)
{
    loop->polls_every_turn = !loop->may_skip_polls || loop->shuffle != 0 || loop->debug ||
                             loop->slow.timing || loop->guest;
}

/* Run a runnable that was removed from the queue. */
static inline void coil__loop_run(coil_loop *loop, struct coil__runnable *runnable)
{
    if (COIL__UNLIKELY(loop->trace != NULL))
        coil__trace_run(loop, runnable);
    else
        runnable->run(runnable);
}

/* Take one turn. Returns 0 or the error of the poll. The loop must not be running. */
int coil__loop_take_turn(coil_loop *loop);

/* ---- for tests --------------------------------------------------------------------- */

/* Functions of libcoil-testing that the loop calls (run/testing_interface.h). */
struct coil__loop_hooks {
    /*
     * The backend "simulated". If backend_is_wanted() returns true, new loops of this
     * thread use it unless another backend is requested by name.
     */
    const struct coil__backend_class *backend;
    bool (*backend_is_wanted)(void);
    /* Set the loop's `shuffle`. Called when the loop is created. */
    void (*shuffle_begin)(coil_loop *loop);
    /* Shuffle the batch. */
    void (*shuffle)(coil_loop *loop);
};

/* NULL if libcoil-testing is not in use. */
extern const struct coil__loop_hooks *_Atomic coil__loop_hooks;

/* ---- closing ----------------------------------------------------------------------- */

/*
 * A hook for an upper layer that stores data per loop. coil_loop_close() calls the hooks,
 * the last one first, before it destroys the parts of the loop.
 */
struct coil__close_hook {
    struct coil__list link;
    void (*closing)(coil_loop *loop);
};

void coil__loop_add_close_hook(coil_loop *loop, struct coil__close_hook *hook);

#endif
