/* While a loop runs, its thread runs no other. */
#include "calls.h"

SCENARIO(loop_within_a_loop_is_refused)
{
    coil_loop *other;
    int rc = coil_loop_create(NULL, &other);

    if (rc == -EBUSY)
        trace("refused");
    rc = coil_sleep(COIL_SEC(1));
    trace("the first goes on");
    return rc;
}
