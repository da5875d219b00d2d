/*
 * calls.c - see calls.h
 */
#include "calls.h"

static coil_handle *handles[256];
static size_t handle_count;
static bool incomplete;

/*
 * Store the handle of a scheduled callback. `rc` is the result of the call that created
 * it.
 */
static coil_handle *keep(int rc, coil_handle *handle)
{
    if (rc < 0) {
        incomplete = true;
        coil_loop_stop(coil_loop_current());
        return NULL;
    }
    if (handle_count == sizeof handles / sizeof handles[0])
        abort();
    return handles[handle_count++] = handle;
}

coil_handle *soon(coil_callback fn, void *arg)
{
    coil_handle *handle;
    int rc = coil_call_soon(fn, arg, &handle);

    return keep(rc, handle);
}

coil_handle *later(int seconds, coil_callback fn, void *arg)
{
    coil_handle *handle;
    int rc = coil_call_later(COIL_SEC(seconds), fn, arg, &handle);

    return keep(rc, handle);
}

coil_handle *at(int seconds, coil_callback fn, void *arg)
{
    coil_handle *handle;
    int rc = coil_call_at(COIL_SEC(seconds), fn, arg, &handle);

    return keep(rc, handle);
}

int run_loop(coil_loop *loop)
{
    return incomplete ? -ENOMEM : coil_loop_run_forever(loop);
}

void trace_text(void *text)
{
    trace("%s", (const char *)text);
}

void stop(void *unused)
{
    (void)unused;
    coil_loop_stop(coil_loop_current());
}

void cancel_handle(void *handle)
{
    if (handle != NULL)
        coil_handle_cancel(handle);
}

int call_with_loop(int (*body)(coil_loop *loop))
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_loop *loop;
    int rc = coil_loop_create(&opts, &loop);

    if (rc < 0)
        return rc;
    rc = body(loop);
    coil_loop_close(loop);
    while (handle_count > 0)
        coil_handle_release(handles[--handle_count]);
    return incomplete ? -ENOMEM : rc;
}
