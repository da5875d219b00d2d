/* Setting an event wakes who waits for it, even if it is cleared before they go on. */
#include "../scenario.h"

static coil_event event = COIL_EVENT_INIT;

static int waiter(void *arg)
{
    int rc = coil_event_wait(&event);

    (void)arg;
    if (rc == 0)
        trace("goes on: set %d", coil_event_is_set(&event));
    return rc;
}

SCENARIO(event_set_and_cleared_still_wakes)
{
    coil_task *task = start(waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("it waits");
    coil_event_set(&event);
    coil_event_clear(&event);
    trace("set %d", coil_event_is_set(&event));
    coil_event_set(&event);
    coil_event_set(&event);
    coil_event_clear(&event);
    turns(1);
    trace("waiter: %s", state(coil_task_future(task)));
    return 0;
}
