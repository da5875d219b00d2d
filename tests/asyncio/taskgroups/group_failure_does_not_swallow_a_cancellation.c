/*
 * The owner is cancelled by somebody else in the turn in which a child fails: the
 * failure comes out of the group, and the cancellation at the next wait.
 */
#include "taskgroups.h"

static coil_event event = COIL_EVENT_INIT;

static int set_and_fail(void *arg)
{
    int rc;

    (void)arg;
    coil_event_set(&event);
    rc = coil_yield();
    return rc == 0 ? -EIO : rc;
}

static int inner(void *arg)
{
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    start_child(&group, set_and_fail, NULL);
    rc = tell("body", coil_sleep(COIL_SEC(1)));
    leave("group", &group, rc);
    coil_event_set(&event); /* where memory failed */
    trace("after: cancelling %d", coil_task_cancelling(coil_task_current()));
    return tell("sleep", coil_sleep(COIL_SEC(1)));
}

SCENARIO(group_failure_does_not_swallow_a_cancellation)
{
    coil_task *task = start(inner, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_event_wait(&event);
    trace("cancelling %d", coil_task_cancelling(task));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("cancelling %d", coil_task_cancelling(task));
    tell("task", coil_task_await(task));
    return 0;
}
