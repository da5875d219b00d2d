/*
 * A group that was left takes no child; one whose owner waits still does, until the
 * last one has ended.
 */
#include "taskgroups.h"

static void try_to_start(void *group)
{
    static struct child late = {"late", 2, 0, 0};
    int rc = coil_group_spawn(group, child, &late, NULL, NULL);

    trace("%s", rc == -ESHUTDOWN ? "refused" : "started");
}

SCENARIO(group_that_has_ended_takes_no_child)
{
    static struct child children[] = {{"child", 2, 0, 0}};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_children(&group, children, 1);
    if (rc == 0)
        rc = coil_call_later(COIL_SEC(1), try_to_start, &group, NULL);
    rc = leave("group", &group, rc);
    if (rc < 0)
        return rc;
    try_to_start(&group);
    coil_group_enter(&group);
    leave("group", &group, 0);
    try_to_start(&group);
    return 0;
}
