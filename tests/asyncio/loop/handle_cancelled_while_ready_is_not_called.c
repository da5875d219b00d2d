/* A call that is ready is cancelled before its turn, and by a callback within its very
 * turn. */
#include "calls.h"

static coil_handle *next;

static void cancel_next(void *unused)
{
    (void)unused;
    trace("cancels");
    cancel_handle(next);
}

LOOP_SCENARIO(handle_cancelled_while_ready_is_not_called)
{
    coil_handle *first = soon(say, "never printed");
    int rc;

    if (first == NULL)
        return -ENOMEM;
    trace("before: %d", coil_handle_cancelled(first));
    coil_handle_cancel(first);
    trace("cancelled: %d", coil_handle_cancelled(first));
    coil_handle_cancel(first);
    trace("twice: %d", coil_handle_cancelled(first));
    soon(cancel_next, NULL);
    next = soon(say, "never printed either");
    soon(say, "the third is called");
    soon(stop, NULL);
    rc = run_loop(loop);
    if (next != NULL)
        trace("both: %d %d", coil_handle_cancelled(first), coil_handle_cancelled(next));
    return rc;
}
