/*
 * calls.h - callbacks, and a loop of the scenario's own.
 *
 * What cannot be made for lack of memory stops the loop, so that nobody waits for it; the
 * scenario ends with -ENOMEM.
 */
#ifndef TESTS_ASYNCIO_LOOP_CALLS_H
#define TESTS_ASYNCIO_LOOP_CALLS_H

#include "../scenario.h"

/* The body is called with a loop that is not running yet, and is closed after it. */
#define LOOP_SCENARIO(name)                                                              \
    static int with_loop_##name(coil_loop *loop);                                        \
    PLAIN_SCENARIO(name)                                                                 \
    {                                                                                    \
        return call_with_loop(with_loop_##name);                                         \
    }                                                                                    \
    static int with_loop_##name(coil_loop *loop)

int call_with_loop(int (*body)(coil_loop *loop));

/* coil_call_soon(), coil_call_later() and coil_call_at(), in seconds. The handle is
 * released when all is over; it may be NULL. */
coil_handle *soon(coil_callback fn, void *arg);
coil_handle *later(int seconds, coil_callback fn, void *arg);
coil_handle *at(int seconds, coil_callback fn, void *arg);

/* coil_loop_run_forever(), unless something is missing that was to stop it. */
int run_loop(coil_loop *loop);

/* Callbacks: a line of the trace; the loop stops; the handle is cancelled. */
void say(void *text);
void stop(void *unused);
void cancel_handle(void *handle);

#endif
