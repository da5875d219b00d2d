/* A future has its result from the moment it is set, and keeps the first. */
#include "../scenario.h"

SCENARIO(future_with_a_result_takes_no_other)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("before: %s", state(future));
    trace("set: %s", outcome(coil_future_set(future, 42, NULL, NULL)));
    trace("after: %s, cancelled %d", state(future), coil_future_cancelled(future));
    trace("set: %s", outcome(coil_future_set(future, 43, NULL, NULL)));
    trace("fail: %s", outcome(coil_future_set(future, -EIO, NULL, NULL)));
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("awaited: %s", outcome(coil_await(future)));
    return 0;
}
