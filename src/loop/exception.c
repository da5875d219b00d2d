/*
 * exception.c - what went wrong and has no caller to return to.
 *
 * The handler is the user's, so it may do anything, but it is called from anywhere: a
 * release deep in a task, the end of the loop. Therefore it runs as a callback does, with
 * no task current, and what is reported while it runs goes to the default handler: it
 * cannot call itself for ever. (asyncio: BaseEventLoop.call_exception_handler)
 */
#include "../base/context.h"
#include "../coro/coroutine.h"
#include "../error/error.h"
#include "loop.h"

#include <string.h>

const struct coil__task_layer *_Atomic coil__task_layer;

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

/* In the context of the task it is about; else in the one the report came from. */
static void call_as_a_callback(const coil_loop *loop, const coil_exception *exception,
                               const struct coil__task_layer *tasks)
{
    coil_task *current = tasks->exchange_current(NULL);
    coil_task *task = exception->task != NULL ? exception->task : current;
    struct coil__context_slot *outer = coil__context_ambient;

    if (task != NULL)
        coil__context_ambient = tasks->context(task);
    loop->exception_handler(exception, loop->exception_arg);
    coil__context_ambient = outer;
    tasks->exchange_current(current);
}

void coil_call_exception_handler(const coil_exception *exception)
{
    const struct coil__task_layer *tasks = coil__task_layer;
    coil_loop *loop = coil__loop_of_thread;

    if (loop == NULL || loop->exception_handler == NULL || loop->handling_exception) {
        coil_default_exception_handler(exception);
        return;
    }
    loop->handling_exception = true;
    if (tasks != NULL)
        call_as_a_callback(loop, exception, tasks);
    else
        loop->exception_handler(exception, loop->exception_arg);
    loop->handling_exception = false;
}

/* ---- the default ------------------------------------------------------------------- */

static void print(void *arg)
{
    const coil_exception *e = arg;

    flockfile(stderr);
    fprintf(stderr, "coil: %s", e->message != NULL ? e->message : "Unhandled exception");
    if (e->task != NULL)
        fprintf(stderr, " (task '%s')", coil__task_layer->name(e->task));
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
