/*
 * A group is cut off by a deadline, and its child fails as it is cancelled: the block
 * comes to that failure.
 */
#include "timeouts.h"

static int child(void *arg)
{
    int rc = tell("child", coil_sleep(COIL_SEC(2)));

    (void)arg;
    return rc < 0 ? -EIO : rc;
}

SCENARIO(timeout_of_a_group_whose_child_fails)
{
    coil_scope scope;
    coil_group group;
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    coil_group_enter(&group);
    if (start_child(&group, child, NULL) == NULL)
        rc = -ENOMEM;
    else
        rc = tell("body", coil_sleep(COIL_SEC(5)));
    rc = tell("group", coil_group_exit(&group, rc));
    trace("group: failures %s", failures(&group));
    tell("body", leave("timeout", &scope, rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
