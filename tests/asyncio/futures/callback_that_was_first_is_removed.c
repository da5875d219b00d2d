/* A callback that is removed is not called; to remove it again removes nothing. */
#include "futures.h"

SCENARIO(callback_that_was_first_is_removed)
{
    coil_future *future = new_future();

    if (future == NULL || add_callbacks(future, 3) < 0)
        return -ENOMEM;
    trace("removed %d", coil_future_remove_callback(future, callback, NUMBER(0)));
    trace("removed %d", coil_future_remove_callback(future, callback, NUMBER(0)));
    coil_future_set(future, 1, NULL, NULL);
    trace("set");
    turns(1);
    trace("state: %s", state(future));
    return 0;
}
