/*
 * What the body holds fails to close when a child has failed: two failures, and no
 * request is left.
 */
#include "taskgroups.h"

static int failing(void *arg)
{
    (void)arg;
    return -EIO;
}

static int close_database(void)
{
    trace("closes");
    return -EPROTO;
}

static int owner(void)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_child(&group, failing, NULL) != NULL ? 0 : -ENOMEM;
    if (rc == 0) {
        tell("body", coil_sleep(COIL_SEC(1)));
        rc = close_database();
    }
    rc = leave("group", &group, rc);
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

SCENARIO(group_collects_the_failure_of_a_cleanup)
{
    tell("owner", owner());
    return 0;
}
