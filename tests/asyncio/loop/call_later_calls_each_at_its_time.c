/* Calls are made in the order of their deadlines; the handle knows its own. */
#include "calls.h"

LOOP_SCENARIO(call_later_calls_each_at_its_time)
{
    coil_handle *five = later(5, say, "after five");
    coil_handle *two = later(2, say, "after two");
    int rc;

    later(9, stop, NULL);
    later(3, say, "after three");
    if (five == NULL || two == NULL)
        return -ENOMEM;
    trace("due at %d and %d", (int)(coil_handle_when(five) / COIL_SEC(1)),
          (int)(coil_handle_when(two) / COIL_SEC(1)));
    rc = run_loop(loop);
    trace("cancelled: %d", coil_handle_cancelled(five));
    return rc;
}
