/* A future begins pending; cancelling it takes effect in that very call. */
#include "../scenario.h"

SCENARIO(future_begins_pending_and_is_cancelled_at_once)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("done %d, cancelled %d", coil_future_done(future),
          coil_future_cancelled(future));
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("done %d, cancelled %d", coil_future_done(future),
          coil_future_cancelled(future));
    trace("awaited: %s", outcome(coil_await(future)));
    return 0;
}
