/* What is ready, or timed, when the loop closes is never called; the next loop begins
 * anew. */
#include "calls.h"

static coil_handle *ready;

static int close_with_calls(coil_loop *loop)
{
    int rc;

    later(4, stop, NULL);
    rc = run_loop(loop);
    trace("stopped at %d", (int)(coil_now() / COIL_SEC(1)));
    if (rc == 0)
        rc = coil_call_soon(say, "never printed", &ready);
    later(1, say, "never printed either");
    return rc;
}

static int begin_anew(coil_loop *loop)
{
    later(1, say, "another loop");
    later(2, stop, NULL);
    return run_loop(loop);
}

PLAIN_SCENARIO(loop_closed_calls_nothing_any_more)
{
    int rc = call_with_loop(close_with_calls);

    if (ready != NULL)
        trace("closed: %d", coil_handle_cancelled(ready));
    coil_handle_release(ready);
    return rc < 0 ? rc : call_with_loop(begin_anew);
}
