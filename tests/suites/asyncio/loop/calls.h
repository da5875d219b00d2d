/*
 * calls.h - callbacks for scenarios that create and run their own loop.
 *
 * If an object cannot be created because memory runs out, these functions stop the loop,
 * and the scenario returns -ENOMEM. Otherwise a task might wait forever.
 */
#ifndef TESTS_ASYNCIO_LOOP_CALLS_H
#define TESTS_ASYNCIO_LOOP_CALLS_H

#include "../scenario.h"

/*
 * Define a scenario that gets a new loop, which does not run yet. The loop is closed when
 * the scenario returns.
 */
#define LOOP_SCENARIO(name)                                                              \
    static int with_loop_##name(coil_loop *loop);                                        \
    PLAIN_SCENARIO(name)                                                                 \
    {                                                                                    \
        return call_with_loop(with_loop_##name);                                         \
    }                                                                                    \
    static int with_loop_##name(coil_loop *loop)

int call_with_loop(int (*body)(coil_loop *loop));

/*
 * Like coil_call_soon(), coil_call_later() and coil_call_at(), with times in seconds.
 * `handle` may be NULL. The handle is released at the end of the scenario.
 */
coil_handle *soon(coil_callback fn, void *arg);
coil_handle *later(int seconds, coil_callback fn, void *arg);
coil_handle *at(int seconds, coil_callback fn, void *arg);

/*
 * Like coil_loop_run_forever(), but return at once if an object could not be created,
 * because then nothing might stop the loop.
 */
int run_loop(coil_loop *loop);

/* Callbacks that print a line, stop the loop, or cancel the handle. */
void trace_text(void *text);
void stop(void *unused);
void cancel_handle(void *handle);

#endif
