/*
 * coil/timer.h - a timer in the caller's own memory, which calls a function.
 *
 *     coil_timer_init(&connection->idle, close_idle, connection);
 *     rc = coil_timer_start(&connection->idle, coil_in(COIL_SEC(30)));
 *
 * A second start changes the deadline. Stop a timer before you free its memory:
 *
 *     coil_timer_stop(&connection->idle);
 *
 * Use coil_timer in programs with many timers that are mostly stopped before they are
 * due. A coil_timer differs from coil_call_at() in three ways. A timer allocates no
 * handle; only the loop's table of timers grows now and then. A timer can be started any
 * number of times. The callback of a timer runs in the thread's context (coil/context.h).
 * In a task, a scope (coil/scope.h) is usually the better choice.
 */
#ifndef COIL_TIMER_H
#define COIL_TIMER_H

#include <coil/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Allocated by the caller; all members are private to coil. A started timer must be
 * neither moved nor freed.
 */
typedef struct coil_timer {
    void *private_[4];
    coil_callback fn;
    void *arg;
} coil_timer;

/*
 * Initialise a timer that calls fn(arg) when it is due. The timer is not started yet. An
 * all-zero timer may be stopped and queried, but not started.
 */
COIL_API void coil_timer_init(coil_timer *timer, coil_callback fn, void *arg);

/*
 * Call `fn` once, at `deadline` or soon after. (asyncio: call_at)
 *
 * Timers with equal deadlines fire first in, first out. If the timer is already started,
 * its deadline is changed, even if the timer is due but its function was not called yet.
 * When `fn` is called the timer is already stopped, and may be started again or freed.
 * Closing the loop stops the timer. Fails with -ENOMEM without changing the timer. Aborts
 * if the thread has no loop, or if coil_timer_init() was not called.
 */
COIL_API int coil_timer_start(coil_timer *timer, int64_t deadline);

/* Stop the timer: `fn` is not called. Has no effect on a timer that is not started. */
COIL_API void coil_timer_stop(coil_timer *timer);

/* True from the start until the timer's function is called or the timer is stopped. */
COIL_API bool coil_timer_started(const coil_timer *timer);

#ifdef __cplusplus
}
#endif

#endif
