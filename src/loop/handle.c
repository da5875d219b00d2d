/*
 * handle.c - callbacks that the user asked for: call_soon, call_later, call_at.
 *
 * A handle is a timer, with the ready queue's link in it, on the heap. Two may hold it:
 * the loop, until the call is made or cancelled, and the user.
 */
#include "../base/context.h"
#include "loop.h"

struct coil_handle {
    struct coil__timer timer;
    coil_loop *loop; /* NULL once called or cancelled */
    coil_callback fn;
    void *arg;
    struct coil__bindings *bindings; /* of the context it was asked for in */
    const void *asked_at;            /* the code that did */
    int64_t when;
    unsigned refs;
    bool cancelled;
};

static void leave_loop(coil_handle *handle)
{
    handle->loop = NULL;
    handle->bindings = NULL;
    coil_handle_release(handle);
}

static void run_handle(struct coil__runnable *runnable)
{
    coil_handle *handle = COIL__CONTAINER(runnable, coil_handle, timer.runnable);
    struct coil__context_slot slot, *outer;
    coil_callback fn = handle->fn;
    void *arg = handle->arg;
    bool dropped = handle->loop->closing;

    coil__loop_calls(handle->loop, (const void *)fn, handle->asked_at);
    outer = coil__context_enter(&slot, handle->bindings);
    leave_loop(handle);
    if (!dropped)
        fn(arg);
    coil__context_leave(&slot, outer);
}

static coil_handle *create_handle(coil_loop *loop, coil_callback fn, void *arg,
                                  const void *asked_at, coil_handle **out)
{
    coil_handle *handle = coil__alloc(sizeof *handle);

    if (handle == NULL)
        return NULL;
    coil__timer_init(&handle->timer, run_handle);
    handle->loop = loop;
    handle->fn = fn;
    handle->arg = arg;
    handle->bindings = coil__context_capture();
    handle->asked_at = asked_at;
    handle->when = 0;
    handle->refs = out != NULL ? 2 : 1;
    handle->cancelled = false;
    return handle;
}

int coil_call_soon(coil_callback fn, void *arg, coil_handle **out)
{
    coil_loop *loop = coil__loop_require("coil_call_soon");
    coil_handle *handle = create_handle(loop, fn, arg, COIL__CALLER(), out);

    if (handle == NULL)
        return -ENOMEM;
    coil__loop_add_ready(loop, &handle->timer.runnable);
    if (out != NULL)
        *out = handle;
    return 0;
}

static int call_at(coil_loop *loop, int64_t deadline, coil_callback fn, void *arg,
                   const void *asked_at, coil_handle **out)
{
    coil_handle *handle = create_handle(loop, fn, arg, asked_at, out);
    int rc;

    if (handle == NULL)
        return -ENOMEM;
    handle->when = deadline;
    rc = coil__timer_start(loop, &handle->timer, deadline);
    if (rc < 0) {
        coil__bindings_release(handle->bindings);
        coil__free(handle);
        return rc;
    }
    if (out != NULL)
        *out = handle;
    return 0;
}

int coil_call_later(int64_t delay_ns, coil_callback fn, void *arg, coil_handle **out)
{
    coil_loop *loop = coil__loop_require("coil_call_later");

    return call_at(loop, coil__time_add(coil__loop_now(loop), delay_ns), fn, arg,
                   COIL__CALLER(), out);
}

int coil_call_at(int64_t deadline, coil_callback fn, void *arg, coil_handle **out)
{
    return call_at(coil__loop_require("coil_call_at"), deadline, fn, arg, COIL__CALLER(),
                   out);
}

void coil_handle_cancel(coil_handle *handle)
{
    handle->cancelled = true;
    if (handle->loop == NULL)
        return;
    coil__timer_stop(handle->loop, &handle->timer);
    coil__bindings_release(handle->bindings);
    leave_loop(handle);
}

bool coil_handle_cancelled(const coil_handle *handle)
{
    return handle->cancelled;
}

int64_t coil_handle_when(const coil_handle *handle)
{
    return handle->when;
}

void coil_handle_release(coil_handle *handle)
{
    if (handle != NULL && --handle->refs == 0)
        coil__free(handle);
}
