/* event.c - events. */
#include "../scenario.h"

static coil_event event = COIL_EVENT_INIT;

static int event_cleared_waiter(void *arg)
{
    int rc = coil_event_wait(&event);

    (void)arg;
    if (rc == 0)
        trace("goes on");
    return rc;
}

/* After an event is cleared, tasks wait until it is set again. */
SCENARIO(event_cleared_is_not_set)
{
    trace("new: %d", coil_event_is_set(&event));
    coil_event_set(&event);
    trace("set: %d", coil_event_is_set(&event));
    coil_event_clear(&event);
    trace("cleared: %d", coil_event_is_set(&event));
    if (start(event_cleared_waiter, NULL) == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("it waits");
    coil_event_set(&event);
    turns(1);
    trace("set: %d", coil_event_is_set(&event));
    return 0;
}

static int event_set_and_cleared_waiter(void *arg)
{
    int rc = coil_event_wait(&event);

    (void)arg;
    if (rc == 0)
        trace("goes on: set %d", coil_event_is_set(&event));
    return rc;
}

/* Setting an event wakes its waiters, even if it is cleared before they continue. */
SCENARIO(event_set_and_cleared_still_wakes)
{
    coil_task *task = start(event_set_and_cleared_waiter, NULL);

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

static int event_set_wakes_waiter(void *name)
{
    int rc;

    trace("%s: set %d", (char *)name, coil_event_is_set(&event));
    rc = coil_event_wait(&event);
    if (rc == 0)
        trace("%s goes on", (char *)name);
    return rc;
}

/*
 * When an event is set, its waiters continue in the next turn, in the order in which they
 * began to wait. Later waits return at once.
 */
SCENARIO(event_set_wakes_waiters_in_order)
{
    if (start(event_set_wakes_waiter, "a") == NULL ||
        start(event_set_wakes_waiter, "b") == NULL)
        return -ENOMEM;
    turns(1);
    if (start(event_set_wakes_waiter, "c") == NULL)
        return -ENOMEM;
    coil_event_set(&event);
    trace("set");
    turns(1);
    trace("end");
    return 0;
}

/* Waiting for an event that is set takes no turn. */
SCENARIO(event_that_is_set_does_not_wait)
{
    if (start(ticker, TURNS(2)) == NULL)
        return -ENOMEM;
    coil_event_set(&event);
    for (int i = 0; i < 3; i++) {
        coil_event_wait(&event);
        trace("waited");
    }
    turns(1);
    coil_event_wait(&event);
    trace("waited");
    return 0;
}

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

/*
 * If a task is cancelled while it waits for an event, its wait returns the cancellation.
 * Setting the event later wakes only the other waiters.
 */
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

/*
 * If a waiter is cancelled just after the event was set, its wait returns the
 * cancellation, and the other waiters continue.
 */
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
