/* A callback of a future that is done already is called in the next turn, not at once. */
#include "../scenario.h"

static void later_still(coil_future *future, void *arg)
{
    (void)future;
    (void)arg;
    trace("later still");
}

static void late(coil_future *future, void *arg)
{
    (void)arg;
    trace("late: %s", state(future));
    coil_future_add_callback(future, later_still, NULL);
    trace("added another");
}

SCENARIO(callback_that_is_added_late_is_called_in_the_next_turn)
{
    coil_future *future = new_future();
    coil_task *ticks = start(ticker, TURNS(3));

    if (ticks == NULL)
        return -ENOMEM;
    coil_future_set(future, 4, NULL, NULL);
    if (coil_future_add_callback(future, late, NULL) < 0)
        return -ENOMEM;
    trace("added");
    return coil_task_await(ticks);
}
