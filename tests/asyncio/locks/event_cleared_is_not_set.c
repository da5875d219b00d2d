/* An event that is cleared makes who comes then wait until it is set again. */
#include "../scenario.h"

static coil_event event = COIL_EVENT_INIT;

static int waiter(void *arg)
{
    int rc = coil_event_wait(&event);

    (void)arg;
    if (rc == 0)
        trace("goes on");
    return rc;
}

SCENARIO(event_cleared_is_not_set)
{
    trace("new: %d", coil_event_is_set(&event));
    coil_event_set(&event);
    trace("set: %d", coil_event_is_set(&event));
    coil_event_clear(&event);
    trace("cleared: %d", coil_event_is_set(&event));
    if (start(waiter, NULL) == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("it waits");
    coil_event_set(&event);
    turns(1);
    trace("set: %d", coil_event_is_set(&event));
    return 0;
}
