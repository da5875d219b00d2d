/*
 * Who waits for an event goes on in the turn after it was set, first come, first served;
 * who comes after that does not wait.
 */
#include "../scenario.h"

static coil_event event = COIL_EVENT_INIT;

static int waiter(void *name)
{
    int rc;

    trace("%s: set %d", (char *)name, coil_event_is_set(&event));
    rc = coil_event_wait(&event);
    if (rc == 0)
        trace("%s goes on", (char *)name);
    return rc;
}

SCENARIO(event_set_wakes_waiters_in_order)
{
    if (start(waiter, "a") == NULL || start(waiter, "b") == NULL)
        return -ENOMEM;
    turns(1);
    if (start(waiter, "c") == NULL)
        return -ENOMEM;
    coil_event_set(&event);
    trace("set");
    turns(1);
    trace("end");
    return 0;
}
