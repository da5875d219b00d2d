/*
 * Children that fail as they are cancelled turn a cancellation into failures: those
 * come out of the group.
 */
#include "taskgroups.h"

static int owner(void *arg)
{
    static struct child children[] = {
        {"a", 10, 0, -EIO}, {"b", 10, 0, -EIO}, {"c", 10, 0, -EIO}};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = start_children(&group, children, 3);
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(10)));
    return leave("group", &group, rc);
}

SCENARIO(group_cancelled_returns_what_its_children_fail_with)
{
    return cancel_after(1, start(owner, NULL));
}
