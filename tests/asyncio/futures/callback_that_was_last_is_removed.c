/* With the last of three callbacks removed the first two are called, and one added after.
 */
#include "futures.h"

SCENARIO(callback_that_was_last_is_removed)
{
    coil_future *future = new_future();

    if (future == NULL || add_callbacks(future, 3) < 0)
        return -ENOMEM;
    trace("removed %d", coil_future_remove_callback(future, callback, NUMBER(2)));
    trace("removed %d", coil_future_remove_callback(future, callback, NUMBER(2)));
    if (coil_future_add_callback(future, callback, NUMBER(3)) < 0) {
        coil_future_cancel(future, NULL);
        return -ENOMEM;
    }
    coil_future_cancel(future, NULL);
    turns(1);
    trace("state: %s", state(future));
    return 0;
}
