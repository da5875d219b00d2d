/*
 * loop.h (internal) - the loop as upper layers see it: things to run, timers, posts.
 */
#ifndef COIL_LOOP_LOOP_H
#define COIL_LOOP_LOOP_H

#include "backend.h"

#include <coil/loop.h>

#include <pthread.h>
#include <stdatomic.h>

/*
 * Something to run in the ready queue: a callback, a task's next step, a timer that is
 * due. It lies in whatever it belongs to, so making it ready never allocates. While its
 * link is in a list it waits there, be it a future's callbacks or the ready queue;
 * coil__list_remove(&r->link) takes it out of either.
 *
 * While the loop is closing, what is still ready is run once more with loop->closing set,
 * which means: you will not be called, free yourself.
 */
struct coil__runnable {
    struct coil__list link;
    void (*run)(struct coil__runnable *runnable);
};

static inline void coil__runnable_init(struct coil__runnable *runnable,
                                       void (*run)(struct coil__runnable *))
{
    coil__list_init(&runnable->link);
    runnable->run = run;
}

/* A heap of timers: the deadline is kept beside the pointer, to compare without a miss.
 */
struct coil__timer_entry {
    int64_t when;
    struct coil__timer *timer;
};

struct coil__timer_heap {
    struct coil__timer_entry *entries;
    size_t count, capacity;
    uint64_t next_sequence;
};

/* What the loop has to know of tasks, which lie above it. */
struct coil__task_layer {
    const char *(*name)(const coil_task *task);
    struct coil__context_slot *(*context)(coil_task *task);
    coil_task *(*exchange_current)(coil_task *task); /* returns who was */
    /* The task whose step it is, or NULL. */
    const coil_task *(*stepping)(const struct coil__runnable *runnable);
    /* The address behind the call that spawned it. */
    const void *(*spawned_at)(const coil_task *task);
    /* Nothing can happen any more. True if tasks wait for all that; it was reported. */
    bool (*stuck)(coil_loop *loop);
};

/* Set, by whichever thread, with the first task; NULL before that. */
extern const struct coil__task_layer *_Atomic coil__task_layer;

/*
 * The loop. What a turn does with it stands in loop.c; upper layers use the functions
 * below.
 */
struct coil_loop {
    struct coil__list ready; /* what runs in the next turn */
    struct coil__list batch; /* what is left of this turn */
    struct coil__list idle;  /* what becomes ready once nothing else is */
    struct coil__backend *backend;
    struct coil__timer_heap timers;
    struct coil__watch_table *watches[2]; /* watch.c: of descriptors; of simulated ones */

    pid_t pid; /* of the process it belongs to: not of one forked later */
    bool running, stopping, closing;
    bool guest; /* in a step of guest.c: it must not wait */
    bool virtual_clock;
    bool may_skip_polls;   /* a virtual clock may not, unless told to skip_polls */
    bool polls_every_turn; /* may not, or batches are shuffled, or debug */
    bool debug, timing;    /* slow.c: debug mode; and a batch of it is not at its end */
    uint64_t shuffle;      /* shuffle.c: where its dice stand; 0 for none */
    int64_t virtual_now;
    int64_t clock_read; /* what the clock said when it was last looked at */
    unsigned turns_unpolled, runs_unpolled;
    uint64_t polls, turns, runs;            /* until the last poll */
    uint64_t operations, operations_waited; /* of the backend's */
    uint64_t runs_when_idle; /* deadlock.c: when we last waited without end */
    size_t outside_work;     /* see coil__loop_expect() */
    int64_t slow_ns;         /* what is slow, in debug mode */
    const void *callback;    /* the user's that runs, or ran last */
    const void *asked_at;    /* and the code that asked for it, or NULL */
    int64_t drain_ns;        /* how long closing waits for abandoned blocking work */

    struct coil__list close_hooks;
    struct coil__runnable *on_interrupt, *on_dump;

    coil_exception_handler exception_handler; /* NULL: the default */
    void *exception_arg;
    bool handling_exception;

    /* wakeup.c: what other threads and signal handlers touch. */
    _Atomic unsigned refs;
    _Atomic bool woken, interrupted, dump_asked;
    int wakeup_fd;
    struct coil__runnable wakeup_watch;
    pthread_mutex_t posts_lock;
    struct coil__post *first_post, **last_post;
    bool takes_posts;
};

extern COIL__THREAD_LOCAL coil_loop *coil__loop_of_thread;

/*
 * Before a loop is created: after a fork the child leaves the parent's alone, whatever
 * state it is in, and may have one of its own.
 */
void coil__loop_forget_parents(void);

COIL__NORETURN void coil__loop_missing(const char *caller);

/* The thread's loop; stops the program, naming `caller`, if there is none. */
static inline coil_loop *coil__loop_require(const char *caller)
{
    if (COIL__UNLIKELY(coil__loop_of_thread == NULL))
        coil__loop_missing(caller);
    return coil__loop_of_thread;
}

/* Stops the program, naming `caller`, where the loop is not this thread's. */
void coil__loop_require_own(const coil_loop *loop, const char *caller);

/* Whatever makes something ready passes here: another thread may only post. */
static inline void coil__loop_check_thread(const coil_loop *loop)
{
    if (COIL__UNLIKELY(loop != coil__loop_of_thread))
        coil__misuse("a future, task or lock was touched by a thread that is not its "
                     "loop's; use coil_post()");
}

/* Append to the ready queue; it must be in no list. */
static inline void coil__loop_add_ready(coil_loop *loop, struct coil__runnable *runnable)
{
    coil__loop_check_thread(loop);
    coil__list_push(&loop->ready, &runnable->link);
}

/* Append a whole list, in order, which is empty afterwards. */
static inline void coil__loop_add_ready_all(coil_loop *loop, struct coil__list *runnables)
{
    coil__loop_check_thread(loop);
    coil__list_splice(&loop->ready, runnables);
}

int64_t coil__loop_now(coil_loop *loop);

/* The user's callback is about to be called; `asked_at` is who asked for it, or NULL. */
static inline void coil__loop_calls(coil_loop *loop, const void *callback,
                                    const void *asked_at)
{
    loop->callback = callback;
    loop->asked_at = asked_at;
}

/*
 * One more (or, with -1, one fewer) thing goes on outside that will end by itself with a
 * post: a job on a thread. A virtual clock stands still meanwhile.
 */
static inline void coil__loop_expect(coil_loop *loop, int change)
{
    loop->outside_work += (size_t)change;
}

/* ---- timers ----------------------------------------------------------------------- */

/*
 * When due, `runnable` goes to the ready queue. The owner sets runnable.run, and may
 * cancel at any moment: also between becoming due and being run.
 */
struct coil__timer {
    union {
        struct coil__runnable runnable;
        uint64_t sequence; /* in the heap, and so in no list: equal deadlines go first in,
                              first out */
    };
    size_t index; /* in the heap; COIL__TIMER_IDLE if not */
};

#define COIL__TIMER_IDLE SIZE_MAX

void coil__timer_init(struct coil__timer *timer, void (*run)(struct coil__runnable *));

/* Arm it, idle as it must be, for `when`. -ENOMEM where the heap cannot grow. */
int coil__timer_start(coil_loop *loop, struct coil__timer *timer, int64_t when);

/* Disarm it, wherever it is; an idle one too. */
void coil__timer_stop(coil_loop *loop, struct coil__timer *timer);

/* The earliest deadline, or COIL_NEVER. */
static inline int64_t coil__timers_next(const coil_loop *loop)
{
    return loop->timers.count > 0 ? loop->timers.entries[0].when : COIL_NEVER;
}

/* Move every timer due at `now` to the ready queue. */
void coil__timers_expire(coil_loop *loop, int64_t now);

/* ---- from other threads ----------------------------------------------------------- */

/* What is posted lies in the poster's memory until it runs, on the loop's thread. */
struct coil__post {
    struct coil__post *next;
    struct coil__runnable runnable;
};

/* Any thread, never allocates. -ESHUTDOWN if the loop is closed: it will not run. */
int coil__loop_post(coil_loop *loop, struct coil__post *post);

/* Take it back, wherever it is by now; on the loop's thread. */
void coil__loop_withdraw(coil_loop *loop, struct coil__post *post);

int coil__wakeup_init(coil_loop *loop);
void coil__wakeup_finish(coil_loop *loop);

/* Make what was posted ready; cheap where nothing was. */
static inline bool coil__wakeup_pending(coil_loop *loop)
{
    return atomic_load_explicit(&loop->woken, memory_order_acquire);
}

void coil__wakeup_collect(coil_loop *loop);

/* ---- turns ------------------------------------------------------------------------ */

#define COIL__TURNS_UNPOLLED 64
#define COIL__RUNS_UNPOLLED 256

/*
 * There is something to poll for: has it waited long enough? A virtual clock stands still
 * while turns are taken, so a timer that is due now was due before them.
 */
static inline bool coil__loop_must_poll(const coil_loop *loop)
{
    return loop->turns_unpolled >= COIL__TURNS_UNPOLLED ||
           loop->runs_unpolled >= COIL__RUNS_UNPOLLED ||
           (COIL__UNLIKELY(loop->virtual_clock) &&
            coil__timers_next(loop) <= loop->virtual_now);
}

/*
 * Once the batch has run: where polling may be left out, make what is ready the next
 * batch and return true. False: the next turn begins with a poll, in loop.c.
 */
static inline bool coil__loop_begin_unpolled_turn(coil_loop *loop)
{
    if (coil__list_empty(&loop->ready) || loop->polls_every_turn || loop->stopping ||
        coil__wakeup_pending(loop))
        return false;
    if ((loop->backend->in_use > 0 || loop->timers.count > 0) &&
        coil__loop_must_poll(loop))
        return false;
    loop->turns_unpolled++;
    coil__list_splice(&loop->batch, &loop->ready);
    return true;
}

/* One turn; 0 or what poll failed with. The loop must not be running. */
int coil__loop_take_turn(coil_loop *loop);

/* ---- deadlocks -------------------------------------------------------------------- */

/*
 * Threads that coil has made in this process, and those of them that wait for work. A
 * thread that works may post something, expected or not.
 */
extern _Atomic unsigned coil__pool_threads, coil__pool_idle;

/*
 * Nothing is ready. How long to poll until there is something, or, in *rc, -EDEADLK,
 * reported, if there can never be.
 */
int64_t coil__loop_longest_poll(coil_loop *loop, int *rc);

/* ---- debug mode ------------------------------------------------------------------- */

#define COIL__SLOW_NS COIL_MSEC(100)

/* Tell how long each thing takes that runs, if that is long; and each poll. */
void coil__loop_set_debug(coil_loop *loop, bool on);

/* May turns be taken without a poll? Something that says no has changed. */
static inline void coil__loop_choose_turns(coil_loop *loop)
{
    loop->polls_every_turn = !loop->may_skip_polls || loop->shuffle != 0 || loop->debug ||
                             loop->timing || loop->guest;
}

/* Run the batch so, and poll. */
void coil__loop_run_timed(coil_loop *loop);
int coil__loop_poll_timed(coil_loop *loop, int64_t timeout_ns);

/* ---- for tests -------------------------------------------------------------------- */

/*
 * This thread's loops, the one there is and those to come, run each batch in a random
 * order that follows from `seed`; 0: first in, first out.
 */
void coil__loop_shuffle(uint64_t seed);

/* A loop of this thread was created: does it shuffle? */
void coil__shuffle_init(coil_loop *loop);

/* Put the batch in a random order. */
void coil__shuffle_batch(coil_loop *loop);

/* ---- from signal handlers --------------------------------------------------------- */

/* Make loop->on_interrupt ready. Async-signal-safe. */
void coil__loop_interrupt(coil_loop *loop);

/* Likewise loop->on_dump. */
void coil__loop_ask_for_dump(coil_loop *loop);

/* ---- closing ---------------------------------------------------------------------- */

/*
 * Upper layers that keep something per loop are told as it closes, last registered first,
 * while the loop still stands.
 */
struct coil__close_hook {
    struct coil__list link;
    void (*closing)(coil_loop *loop);
};

void coil__loop_add_close_hook(coil_loop *loop, struct coil__close_hook *hook);

/* watch.c: forget all readers and writers. */
void coil__watches_finish(coil_loop *loop);

#endif
