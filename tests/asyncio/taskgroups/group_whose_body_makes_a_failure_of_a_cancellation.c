/*
 * A body that fails when it is cancelled: the failure comes out of the group, and the
 * request still counts.
 */
#include "taskgroups.h"

static int owner(void *arg)
{
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = tell("body", coil_sleep(COIL_SEC(10)));
    rc = leave("group", &group, rc == -ECANCELED ? -EIO : rc);
    trace("cancelling: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

SCENARIO(group_whose_body_makes_a_failure_of_a_cancellation)
{
    return cancel_after(1, start(owner, NULL));
}
