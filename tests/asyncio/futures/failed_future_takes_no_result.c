/* A future that has failed keeps its failure, for everybody who asks. */
#include "../scenario.h"

SCENARIO(failed_future_takes_no_result)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("before: %s", state(future));
    trace("fail: %s", outcome(coil_future_set(future, -EIO, NULL, NULL)));
    trace("after: %s, cancelled %d", state(future), coil_future_cancelled(future));
    trace("set: %s", outcome(coil_future_set(future, 1, NULL, NULL)));
    trace("fail: %s", outcome(coil_future_set(future, -ENOENT, NULL, NULL)));
    trace("cancel: %d", coil_future_cancel(future, NULL));
    for (int i = 0; i < 2; i++)
        trace("awaited: %s", outcome(coil_await(future)));
    return 0;
}
