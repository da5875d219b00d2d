/*
 * Children that fail in the same turn are all among the group's failures; the body and
 * the others are cancelled once.
 */
#include "taskgroups.h"

static int owner(void)
{
    static struct child children[] = {
        {"a", 1, -EIO, 0}, {"b", 1, -EIO, 0}, {"c", 1, -EIO, 0}, {"d", 5, 0, 0}};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_children(&group, children, 4);
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(10)));
    return leave("group", &group, rc);
}

SCENARIO(group_collects_the_failures_of_one_turn)
{
    tell("owner", owner());
    trace("cancelling: %d", coil_task_cancelling(coil_task_current()));
    return 0;
}
