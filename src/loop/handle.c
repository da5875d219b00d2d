/*
 * handle.c - callbacks requested by the user: call_soon, call_later, call_at.
 *
 * A handle is an allocated timer; its link in the ready queue is part of the timer. Up to
 * two owners have a reference to a handle: the loop, until the call is made or cancelled,
 * and the user. A program may have very many handles, so a handle is small: it has 72
 * bytes, which malloc(3) allocates without waste. A handle does not store its loop, which
 * is the thread's loop. The code that requested the call is stored only in debug mode.
 */
#include "../base/context.h"
#include "loop.h"

struct asked {
    const void *at; /* the code that requested the call */
    const coil_loop *loop;
};

struct coil_handle {
    struct coil__timer timer;
    coil_callback fn;
    void *arg;
    /* bindings of the context in which the call was requested */
    struct coil__bindings *bindings;
    int64_t when;
    unsigned refs;
    bool pending; /* neither called nor cancelled */
    bool cancelled;
    bool says_who;        /* `asked` has one element */
    struct asked asked[]; /* debug mode only */
};

_Static_assert(sizeof(coil_handle) <= 72, "see above");

static void leave_loop(coil_handle *handle)
{
    handle->pending = false;
    handle->bindings = NULL;
    coil_handle_release(handle);
}

static void run_handle(struct coil__runnable *runnable)
{
    coil_handle *handle = COIL__CONTAINER(runnable, coil_handle, timer.runnable);
    struct coil__context_slot slot, *outer;
    coil_callback fn = handle->fn;
    void *arg = handle->arg;
    coil_loop *loop = coil__loop_of_thread;

    coil__loop_calls(loop, (const void *)fn, handle->says_who ? handle->asked->at : NULL);
    outer = coil__context_enter(&slot, handle->bindings);
    leave_loop(handle);
    if (!loop->closing)
        fn(arg);
    coil__context_leave(&slot, outer);
}

static coil_handle *create_handle(coil_loop *loop, coil_callback fn, void *arg,
                                  const void *requested_by, const char *caller,
                                  coil_handle **out)
{
    bool says_who = loop->debug;
    coil_handle *handle;

    if (says_who)
        coil__loop_check_stack(caller);
    handle = coil__alloc(sizeof *handle + (says_who ? sizeof handle->asked[0] : 0));
    if (out != NULL)
        *out = handle;
    if (handle == NULL)
        return NULL;
    coil__timer_init(&handle->timer, run_handle);
    handle->fn = fn;
    handle->arg = arg;
    handle->bindings = coil__context_capture();
    handle->when = 0;
    handle->refs = out != NULL ? 2 : 1;
    handle->pending = true;
    handle->cancelled = false;
    handle->says_who = says_who;
    if (says_who)
        *handle->asked = (struct asked){requested_by, loop};
    return handle;
}

COIL__NOINLINE int coil_call_soon(coil_callback fn, void *arg, coil_handle **out)
{
    COIL__REQUIRE(fn, "a function");
    coil_loop *loop = coil__loop_require("coil_call_soon");
    coil_handle *handle =
        create_handle(loop, fn, arg, COIL__CALLER(), "coil_call_soon", out);

    if (handle == NULL)
        return coil__failed(-ENOMEM);
    coil__loop_add_ready(loop, &handle->timer.runnable);
    return 0;
}

static int call_at(coil_loop *loop, int64_t deadline, coil_callback fn, void *arg,
                   const void *requested_by, const char *caller, coil_handle **out)
{
    coil_handle *handle = create_handle(loop, fn, arg, requested_by, caller, out);
    int rc;

    if (handle == NULL)
        return coil__failed(-ENOMEM);
    handle->when = deadline;
    rc = coil__timer_start(loop, &handle->timer, deadline);
    if (rc < 0) {
        coil__bindings_release(handle->bindings);
        coil__free(handle);
        if (out != NULL)
            *out = NULL;
    }
    return rc;
}

COIL__NOINLINE int coil_call_later(int64_t delay_ns, coil_callback fn, void *arg,
                                   coil_handle **out)
{
    COIL__REQUIRE(fn, "a function");
    coil_loop *loop = coil__loop_require("coil_call_later");

    return call_at(loop, coil__time_add(coil__loop_now(loop), delay_ns), fn, arg,
                   COIL__CALLER(), "coil_call_later", out);
}

COIL__NOINLINE int coil_call_at(int64_t deadline, coil_callback fn, void *arg,
                                coil_handle **out)
{
    COIL__REQUIRE(fn, "a function");
    return call_at(coil__loop_require("coil_call_at"), deadline, fn, arg, COIL__CALLER(),
                   "coil_call_at", out);
}

/*
 * Return the loop on which to cancel the handle's call. A handle in a ready queue does
 * not store its loop, so a handle of another loop is detected only in debug mode.
 */
static coil_loop *loop_to_undo(const coil_handle *handle)
{
    coil_loop *loop = coil__timer_loop_to_undo(&handle->timer, "coil_handle_cancel");

    if (COIL__UNLIKELY(handle->says_who) && handle->asked->loop != loop &&
        handle->asked->loop != coil__loop_of_parent)
        coil__timer_stop_foreign("coil_handle_cancel");
    return loop;
}

static void check_not_gone(const coil_handle *handle, const char *caller)
{
    if (COIL__UNLIKELY(handle->refs == 0))
        coil__misuse("%s: the last reference to this handle was already released",
                     caller);
}

void coil_handle_cancel(coil_handle *handle)
{
    COIL__REQUIRE(handle, "a handle");
    check_not_gone(handle, "coil_handle_cancel");
    handle->cancelled = true;
    if (!handle->pending)
        return;
    coil__timer_stop(loop_to_undo(handle), &handle->timer);
    coil__bindings_release(handle->bindings);
    leave_loop(handle);
}

bool coil_handle_cancelled(const coil_handle *handle)
{
    COIL__REQUIRE(handle, "a handle");
    check_not_gone(handle, __func__);
    return handle->cancelled;
}

int64_t coil_handle_when(const coil_handle *handle)
{
    COIL__REQUIRE(handle, "a handle");
    check_not_gone(handle, __func__);
    return handle->when;
}

void coil_handle_release(coil_handle *handle)
{
    if (handle == NULL)
        return;
    check_not_gone(handle, "coil_handle_release");
    if (--handle->refs == 0)
        coil__free_object(handle);
}
