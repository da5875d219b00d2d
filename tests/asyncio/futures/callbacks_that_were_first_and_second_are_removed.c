/* With the first two of three callbacks removed the third is called alone. */
#include "futures.h"

SCENARIO(callbacks_that_were_first_and_second_are_removed)
{
    static const int order[] = {0, 1, 0};
    coil_future *future = new_future();

    if (future == NULL || add_callbacks(future, 3) < 0)
        return -ENOMEM;
    for (int i = 0; i < 3; i++)
        trace("removed %d",
              coil_future_remove_callback(future, callback, NUMBER(order[i])));
    coil_future_set(future, 1, NULL, NULL);
    turns(1);
    trace("state: %s", state(future));
    return 0;
}
