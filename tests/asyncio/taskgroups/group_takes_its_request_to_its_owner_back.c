/*
 * A child's failure cancels the owner, which counts as a request in the body, and no
 * more after the exit.
 */
#include "taskgroups.h"

static int fail_in_a_turn(void *arg)
{
    int rc = coil_yield();

    (void)arg;
    return rc == 0 ? -EIO : rc;
}

static void count(const char *where)
{
    trace("%s: cancelling %d", where, coil_task_cancelling(coil_task_current()));
}

SCENARIO(group_takes_its_request_to_its_owner_back)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    if (start_child(&group, fail_in_a_turn, NULL) == NULL)
        return coil_group_exit(&group, -ENOMEM);
    count("body");
    rc = tell("body", coil_sleep(COIL_SEC(10)));
    count("cancelled body");
    leave("group", &group, rc);
    count("after");
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
