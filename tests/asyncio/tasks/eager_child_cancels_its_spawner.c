/* An eager child that cancels its spawner: that is told at its next wait. */
#include "../scenario.h"

static int child(void *spawner)
{
    trace("cancel: %d", coil_task_cancel(spawner, NULL));
    return 0;
}

SCENARIO(eager_child_cancels_its_spawner)
{
    coil_task *me = coil_task_current();

    start(ticker, TURNS(2));
    if (start_with(child, me, &(coil_spawn_opts){.eager = true}) == NULL)
        return -ENOMEM;
    trace("requests: %d", coil_task_cancelling(me));
    tell("waits", coil_sleep(COIL_SEC(5)));
    coil_cancel_caught();
    trace("left: %d", coil_uncancel());
    tell("waits", coil_sleep(COIL_SEC(5)));
    return 0;
}
