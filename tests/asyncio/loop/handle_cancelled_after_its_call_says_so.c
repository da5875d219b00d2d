/* To cancel what was called already, or is being called, changes nothing but the
 * handle's word. */
#include "calls.h"

static coil_handle *handle;

static void body(void *unused)
{
    (void)unused;
    cancel_handle(handle);
    trace("in the call: %d", handle == NULL || coil_handle_cancelled(handle));
}

LOOP_SCENARIO(handle_cancelled_after_its_call_says_so)
{
    coil_handle *called;
    int rc;

    handle = soon(body, NULL);
    called = soon(say, "called");
    soon(stop, NULL);
    rc = run_loop(loop);
    if (called == NULL)
        return -ENOMEM;
    trace("called: %d", coil_handle_cancelled(called));
    coil_handle_cancel(called);
    trace("afterwards: %d", coil_handle_cancelled(called));
    return rc;
}
