/*
 * stall.h (internal) - reports a loop whose thread has waited for a lock for a long time.
 */
#ifndef COIL_LOOP_STALL_H
#define COIL_LOOP_STALL_H

#include "../base/list.h"

#include <coil/loop.h>

/* A member of each loop. Private to stall.c. */
struct coil__stall {
    bool is_watched;        /* used only by the loop's thread */
    struct coil__list link; /* in the list of watched loops */
    unsigned long switches; /* the thread's context switches up to the last check */
    unsigned checks;        /* number of checks in a row that found the same wait */
};

/* The interval between checks. Tests shorten it. */
extern int64_t coil__stall_check_ns;

/* Return the time after which a wait for a lock is reported. */
int64_t coil__stall_span(void);

/* Watch the loop until it closes. May be called repeatedly, on the loop's thread. */
void coil__stall_watch(coil_loop *loop);

/* Called when the loop closes. */
void coil__stall_finish(coil_loop *loop);

/*
 * Reset all state in a child of fork(2), which has no watching thread. Async-signal-safe.
 */
void coil__stall_forked(void);

#endif
