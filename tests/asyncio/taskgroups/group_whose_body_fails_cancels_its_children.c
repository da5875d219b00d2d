/*
 * A body that fails after a while cancels the children, and its failure comes out when
 * they have ended.
 */
#include "taskgroups.h"

static int owner(void)
{
    static struct child children[] = {{"a", 5, 0, 0}, {"b", 6, 0, 0}};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_children(&group, children, 2);
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(1)));
    return leave("group", &group, rc == 0 ? -EIO : rc);
}

SCENARIO(group_whose_body_fails_cancels_its_children)
{
    tell("owner", owner());
    return 0;
}
