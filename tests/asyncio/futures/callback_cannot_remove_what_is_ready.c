/* Once a future is done its callbacks are on their way: one cannot remove those behind
 * it. */
#include "../scenario.h"

static void second(coil_future *future, void *arg)
{
    (void)future;
    (void)arg;
    trace("second");
}

static void first(coil_future *future, void *arg)
{
    (void)arg;
    trace("first removes %d", coil_future_remove_callback(future, second, NULL));
}

SCENARIO(callback_cannot_remove_what_is_ready)
{
    coil_future *future = new_future();
    int rc = future != NULL ? coil_future_add_callback(future, first, NULL) : -ENOMEM;

    for (int i = 0; rc == 0 && i < 2; i++)
        rc = coil_future_add_callback(future, second, NULL);
    if (future == NULL)
        return rc;
    coil_future_set(future, 1, NULL, NULL);
    trace("set; removed %d", coil_future_remove_callback(future, second, NULL));
    turns(1);
    trace("one turn later");
    return rc;
}
