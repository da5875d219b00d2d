/* The earliest timer is cancelled: nothing happens until the next one is due. */
#include "calls.h"

LOOP_SCENARIO(timer_cancelled_does_not_wake_the_loop)
{
    coil_handle *first = later(5, say, "never printed");
    int rc;

    later(10, stop, NULL);
    if (first == NULL)
        return -ENOMEM;
    coil_handle_cancel(first);
    rc = run_loop(loop);
    trace("stopped at %d, cancelled: %d", (int)(coil_now() / COIL_SEC(1)),
          coil_handle_cancelled(first));
    return rc;
}
