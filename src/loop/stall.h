/*
 * stall.h (internal) - reports a loop whose thread has waited for a lock for a long time.
 */
#ifndef COIL_LOOP_STALL_H
#define COIL_LOOP_STALL_H

#include "../base/list.h"

#include <coil/loop.h>

/* Private to stall.c; one in each loop. */
struct coil__stall {
    bool is_watched;        /* used only by the loop's thread */
    struct coil__list link; /* in the list of watched loops */
    unsigned long switches; /* the thread's context switches at the latest check */
    unsigned looks;         /* checks in a row that found the thread in the same wait */
};

/* The interval of the checks. Tests shorten it. */
extern int64_t coil__stall_look_ns;

/* Return the time after which a wait for a lock is reported. */
int64_t coil__stall_span(void);

/*
 * Watch the loop of this thread from now on, until it closes. May be called any number of
 * times.
 */
void coil__stall_watch(coil_loop *loop);

/* Called when the loop closes. */
void coil__stall_finish(coil_loop *loop);

/* Called in a forked child, which has no watching thread. Async-signal-safe. */
void coil__stall_forked(void);

#endif
