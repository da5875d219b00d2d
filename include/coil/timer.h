/*
 * coil/timer.h - a timer in the caller's own memory, which calls a function.
 *
 *     coil_timer_init(&connection->idle, close_idle, connection);
 *     rc = coil_timer_start(&connection->idle, coil_in(COIL_SEC(30)));
 *
 * Starting it again moves it. Before its memory is freed it must be stopped:
 *
 *     coil_timer_stop(&connection->idle);
 *
 * For programs with many timers that are mostly stopped before they are due. It differs
 * from coil_call_at(): there is no handle to allocate (only the loop's table of timers
 * grows now and then), a timer can be started any number of times, and its callback runs
 * in the thread's context (coil/context.h). In a task, a scope (coil/scope.h) is usually
 * the better choice.
 */
#ifndef COIL_TIMER_H
#define COIL_TIMER_H

#include <coil/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The caller's memory; the fields are coil's own. While it is started it must neither be
 * moved nor freed.
 */
typedef struct coil_timer {
    void *private_[4];
    coil_callback fn;
    void *arg;
} coil_timer;

/* A timer that is not started, and calls fn(arg) when it is due. One that is all zeros
   may be stopped and asked for, but not started. */
COIL_API void coil_timer_init(coil_timer *timer, coil_callback fn, void *arg);

/*
 * Make the call once, at `deadline` or soon after. (asyncio: call_at)
 *
 * Equal deadlines are first in, first out. One that is started already moves to the new
 * deadline, and so does one that is due but has not been called. When it is called it is
 * stopped already, and may be started again or freed. The loop's closing stops it too.
 * Fails with -ENOMEM, and is as it was then. Without a loop it stops the program, as it
 * does where coil_timer_init() was not called.
 */
COIL_API int coil_timer_start(coil_timer *timer, int64_t deadline);

/* Do not make the call. One that is not started is left alone. */
COIL_API void coil_timer_stop(coil_timer *timer);

/* True from start until it is called or stopped. */
COIL_API bool coil_timer_started(const coil_timer *timer);

#ifdef __cplusplus
}
#endif

#endif
