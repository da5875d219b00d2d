/* A future that was cancelled refuses a result and a failure, and stays cancelled. */
#include "../scenario.h"

SCENARIO(cancelled_future_takes_no_result)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("set: %s", outcome(coil_future_set(future, 1, NULL, NULL)));
    trace("fail: %s", outcome(coil_future_set(future, -EIO, NULL, NULL)));
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("state: %s", state(future));
    trace("awaited: %s", outcome(coil_await(future)));
    return 0;
}
