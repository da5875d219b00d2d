/*
 * exception.c - reports failures that cannot be returned to a caller.
 *
 * The exception handler is user code and may do anything, but coil may have to call it
 * anywhere, such as when a task releases an object, or when the loop closes. So the
 * handler runs without a current task, like a callback. If a failure is reported while
 * the handler is running, the default handler is called instead, to prevent infinite
 * recursion. (asyncio: BaseEventLoop.call_exception_handler)
 */
#include "../base/context.h"
#include "../coro/coroutine.h"
#include "../error/error.h"
#include "../error/symbol.h"
#include "loop.h"

#include <string.h>

const struct coil__task_layer *_Atomic coil__task_layer;

void coil_set_exception_handler(coil_exception_handler handler, void *arg)
{
    coil_loop *loop = coil__loop_require("coil_set_exception_handler");

    loop->exception.handler = handler;
    loop->exception.arg = arg;
}

coil_exception_handler coil_get_exception_handler(void **arg)
{
    const coil_loop *loop = coil__loop_require("coil_get_exception_handler");

    if (arg != NULL)
        *arg = loop->exception.arg;
    return loop->exception.handler;
}

/*
 * Call the handler in the context of the exception's task, or, if there is none, of the
 * code that reported the exception.
 */
static void call_as_a_callback(const coil_loop *loop, const coil_exception *exception,
                               const struct coil__task_layer *tasks)
{
    coil_task *current = tasks->exchange_current(NULL);
    coil_task *task = exception->task != NULL ? exception->task : current;
    struct coil__context_slot *outer = coil__context_ambient;

    if (task != NULL)
        coil__context_ambient = tasks->context(task);
    loop->exception.handler(exception, loop->exception.arg);
    coil__context_ambient = outer;
    tasks->exchange_current(current);
}

void coil_call_exception_handler(const coil_exception *exception)
{
    COIL__REQUIRE(exception, "an exception");
    const struct coil__task_layer *tasks = coil__task_layer;
    coil_loop *loop = coil__loop_of_thread;

    if (loop == NULL || loop->exception.handler == NULL || loop->exception.handling) {
        coil_default_exception_handler(exception);
        return;
    }
    loop->exception.handling = true;
    if (tasks != NULL)
        call_as_a_callback(loop, exception, tasks);
    else
        loop->exception.handler(exception, loop->exception.arg);
    loop->exception.handling = false;
}

/* ---- the default handler ----------------------------------------------------------- */

static void print(void *arg)
{
    const coil_exception *e = arg;
    struct coil__report report;

    coil__report_begin(&report, stderr, "exception");
    coil__report_value(&report, "message", "coil: %s",
                       e->message != NULL ? e->message : "Unhandled exception");
    if (e->task != NULL)
        coil__report_value(&report, "task", " (task '%s')",
                           coil__task_layer->name(e->task));
    if (e->rc < 0 && e->error == NULL)
        coil__report_value(&report, "error", ": %s", coil_strerror(e->rc));
    coil__report_words(&report, "\n");
    if (e->error != NULL)
        coil__error_print(&report, e->error);
    else if (e->task != NULL)
        coil__symbol_print(&report, "spawned_by", "  spawned by %s\n",
                           coil__task_layer->spawned_at(e->task));
    coil__report_end(&report);
}

/*
 * Print on a larger stack, because stdio may need more space than a small task's stack
 * has left.
 */
void coil_default_exception_handler(const coil_exception *exception)
{
    COIL__REQUIRE(exception, "an exception");
    if (coil__coro_call(COIL__ERROR_PRINT_BYTES, print, (void *)exception) < 0)
        print((void *)exception);
}
