/*
 * exception.c - what went wrong and has no caller to return to.
 *
 * The handler is the user's, so it may do anything, but it is called from anywhere: a
 * release deep in a task, the end of the loop. Therefore it runs as a callback does, with
 * no task current, and what is reported while it runs goes to the default handler: it
 * cannot call itself for ever. (asyncio: BaseEventLoop.call_exception_handler)
 */
#include "../coro/coroutine.h"
#include "../error/error.h"
#include "loop.h"

#include <string.h>

void coil_set_exception_handler(coil_exception_handler handler, void *arg)
{
    coil_loop *loop = coil__loop_require("coil_set_exception_handler");

    loop->exception_handler = handler;
    loop->exception_arg = arg;
}

coil_exception_handler coil_get_exception_handler(void **arg)
{
    const coil_loop *loop = coil__loop_require("coil_get_exception_handler");

    if (arg != NULL)
        *arg = loop->exception_arg;
    return loop->exception_handler;
}

void coil_call_exception_handler(const coil_exception *exception)
{
    coil_loop *loop = coil__loop_of_thread;
    coil_task *current = NULL;

    if (loop == NULL || loop->exception_handler == NULL || loop->handling_exception) {
        coil_default_exception_handler(exception);
        return;
    }
    loop->handling_exception = true;
    if (loop->tasks != NULL)
        current = loop->tasks->exchange_current(NULL);
    loop->exception_handler(exception, loop->exception_arg);
    if (loop->tasks != NULL)
        loop->tasks->exchange_current(current);
    loop->handling_exception = false;
}

/* ---- the default ------------------------------------------------------------------- */

static void print(void *arg)
{
    const coil_exception *e = arg;
    const coil_loop *loop = coil__loop_of_thread;

    flockfile(stderr);
    fprintf(stderr, "coil: %s", e->message != NULL ? e->message : "Unhandled exception");
    if (e->task != NULL && loop != NULL && loop->tasks != NULL)
        fprintf(stderr, " (task '%s')", loop->tasks->name(e->task));
    if (e->rc < 0 && e->error == NULL)
        fprintf(stderr, ": %s", strerror(-e->rc));
    putc('\n', stderr);
    if (e->error != NULL)
        coil_error_print(e->error, stderr);
    funlockfile(stderr);
}

/* stdio takes more of a stack than a small task may have left. */
void coil_default_exception_handler(const coil_exception *exception)
{
    if (coil__coro_call(COIL__ERROR_PRINT_BYTES, print, (void *)exception) < 0)
        print((void *)exception);
}
