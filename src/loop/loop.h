/*
 * loop.h (internal) - the loop as upper layers see it: things to run, timers, posts.
 */
#ifndef COIL_LOOP_LOOP_H
#define COIL_LOOP_LOOP_H

#include "backend.h"

#include <coil/loop.h>

/*
 * Something to run in the ready queue: a callback, a task's next step, a timer that is
 * due. It lies in whatever it belongs to, so making it ready never allocates. While its
 * link is in a list it waits there, be it a future's callbacks or the ready queue;
 * coil__list_remove(&r->link) takes it out of either.
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

/* The thread's loop; stops the program, naming `caller`, if there is none. */
coil_loop *coil__loop_require(const char *caller);

/* Append to the ready queue; it must be in no list. */
void coil__loop_add_ready(coil_loop *loop, struct coil__runnable *runnable);

/* Append a whole list, in order, which is empty afterwards. */
void coil__loop_add_ready_all(coil_loop *loop, struct coil__list *runnables);

/* True while a callback or a task of this loop runs. */
bool coil__loop_in_turn(const coil_loop *loop);

struct coil__backend *coil__loop_backend(coil_loop *loop);

int64_t coil__loop_now(coil_loop *loop);

/* ---- timers ----------------------------------------------------------------------- */

/*
 * When due, `runnable` goes to the ready queue. The owner sets runnable.run, and may
 * cancel at any moment: also between becoming due and being run.
 */
struct coil__timer {
    struct coil__runnable runnable;
    int64_t when;
    uint64_t sequence; /* equal deadlines: first in, first out */
    size_t index;      /* in the heap; COIL__TIMER_IDLE if not */
};

#define COIL__TIMER_IDLE SIZE_MAX

void coil__timer_init(struct coil__timer *timer, void (*run)(struct coil__runnable *));

/* Arm it, idle as it must be, for `when`. -ENOMEM where the heap cannot grow. */
int coil__timer_start(coil_loop *loop, struct coil__timer *timer, int64_t when);

/* Disarm it, wherever it is; an idle one too. */
void coil__timer_stop(coil_loop *loop, struct coil__timer *timer);

/* ---- from other threads ----------------------------------------------------------- */

/* What is posted lies in the poster's memory until it runs, on the loop's thread. */
struct coil__post {
    struct coil__post *next;
    struct coil__runnable runnable;
};

/* Any thread, never allocates. -ESHUTDOWN if the loop is closed: it will not run. */
int coil__loop_post(coil_loop *loop, struct coil__post *post);

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

#endif
