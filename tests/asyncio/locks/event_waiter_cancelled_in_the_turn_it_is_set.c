/*
 * A task that is cancelled right after the event was set is told that it was cancelled,
 * the other waiters that it is set.
 */
#include "../scenario.h"

static coil_event event = COIL_EVENT_INIT;

static int waiter(void *name)
{
    int rc = coil_event_wait(&event);

    if (rc == 0)
        trace("%s goes on", (char *)name);
    return rc;
}

SCENARIO(event_waiter_cancelled_in_the_turn_it_is_set)
{
    coil_task *a = start(waiter, "a"), *b = start(waiter, "b");

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_event_set(&event);
    trace("cancel: %d", coil_task_cancel(a, NULL));
    turns(1);
    trace("a %s, b %s, set %d", state(coil_task_future(a)), state(coil_task_future(b)),
          coil_event_is_set(&event));
    return 0;
}
