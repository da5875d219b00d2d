/* group_cancel.c - task groups that are cancelled with coil_group_cancel(). */
#include "taskgroups.h"

static int slow_child(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    coil_cancel_caught();
    trace_outcome("clean-up", coil_sleep(COIL_SEC(3)));
    return rc;
}

/*
 * Cancel a group after a second, from its body. If `seconds` is not 0, the body then
 * sleeps for that many seconds before it leaves the group.
 */
static int end_a_group(int seconds)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    if (start_child(&group, slow_child, NULL) == NULL)
        return coil_group_exit(&group, -ENOMEM);
    rc = coil_sleep(COIL_SEC(1));
    coil_group_cancel(&group, NULL);
    if (seconds > 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(seconds)));
    return coil_group_exit(&group, rc);
}

static int trace_end(int seconds)
{
    int rc = trace_outcome("group", end_a_group(seconds));

    if (rc < 0)
        return rc;
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
}

/*
 * The exit of a cancelled group returns when the children have ended, and the owner
 * continues without an error.
 */
SCENARIO(group_ended_early_is_no_failure)
{
    int rc = trace_end(0);

    return rc == 0 ? trace_end(5) : rc;
}

static int trace_end_in_a_task(void *seconds)
{
    return trace_end((int)(intptr_t)seconds);
}

/*
 * If another request cancels the owner during the exit of a cancelled group, the exit
 * returns that cancellation. (gh-155433)
 */
SCENARIO(group_ended_early_does_not_lose_its_owners_cancellation)
{
    int rc = cancel_after(2, start(trace_end_in_a_task, (void *)0));

    return rc == 0 ? cancel_after(2, start(trace_end_in_a_task, (void *)5)) : rc;
}

/*
 * A timeout that passes during the exit of a cancelled group is reported as a timeout.
 * (gh-155433)
 */
SCENARIO(group_ended_early_does_not_outlive_a_timeout)
{
    for (int seconds = 0; seconds <= 5; seconds += 5) {
        coil_scope scope;
        int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

        if (rc < 0)
            return rc;
        rc = coil_scope_exit(&scope, trace_end(seconds));
        trace("timeout: %s, expired %d", outcome(rc), coil_scope_expired(&scope));
        if (rc < 0 && rc != -ETIMEDOUT)
            return rc;
        trace("cancelling %d", coil_task_cancelling(coil_task_current()));
        trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    }
    return 0;
}

static int fail_later(void *arg)
{
    int rc = coil_sleep(COIL_SEC(2));

    (void)arg;
    return rc == 0 ? -EIO : rc;
}

/*
 * A failing group cancels its owner, even if the owner is in the exit of a cancelled
 * inner group. (gh-155433)
 */
SCENARIO(group_ended_early_inside_one_that_fails)
{
    coil_group outer;

    coil_group_enter(&outer);
    if (start_child(&outer, fail_later, NULL) == NULL)
        return coil_group_exit(&outer, -ENOMEM);
    if (leave("outer", &outer, trace_end(0)) == -EIO)
        trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return 0;
}
