/* Two timers are due together: the first cancels the second, which is ready by then. */
#include "calls.h"

static coil_handle *second;

static void first(void *unused)
{
    trace("first");
    cancel_handle(second);
    later(1, stop, unused);
}

LOOP_SCENARIO(timer_that_is_due_is_cancelled_in_its_turn)
{
    int rc;

    later(3, first, NULL);
    second = later(3, say, "never printed");
    later(3, say, "third");
    rc = run_loop(loop);
    if (second != NULL)
        trace("cancelled: %d", coil_handle_cancelled(second));
    return rc;
}
