/*
 * A cancellation that arrives in the body reaches the children when the body leaves
 * the group with it.
 */
#include "taskgroups.h"

static int owner(void *arg)
{
    static struct child children[] = {{"a", 5, 0, 0}, {"b", 5, 0, 0}, {"c", 5, 0, 0}};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = start_children(&group, children, 3);
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(10)));
    return leave("group", &group, rc);
}

SCENARIO(group_cancelled_in_its_body_cancels_its_children)
{
    return cancel_after(1, start(owner, NULL));
}
