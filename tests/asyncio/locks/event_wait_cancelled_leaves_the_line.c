/*
 * A task that is cancelled while it waits for an event ends cancelled; setting it later
 * wakes the others only.
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

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

SCENARIO(event_wait_cancelled_leaves_the_line)
{
    coil_task *a = start(waiter, "a"), *b = start(waiter, "b");
    int rc;

    if (a == NULL || b == NULL)
        return -ENOMEM;
    rc = coil_call_soon(cancel, a, NULL);
    if (rc < 0)
        return rc;
    trace("a: %s", outcome(coil_task_await(a)));
    trace("set %d; b %s", coil_event_is_set(&event), state(coil_task_future(b)));
    coil_event_set(&event);
    trace("b: %s", outcome(coil_task_await(b)));
    return 0;
}
