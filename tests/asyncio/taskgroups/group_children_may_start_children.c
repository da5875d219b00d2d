/*
 * A child may start children of the group it is in; the owner, who waits for the end,
 * waits for those, too.
 */
#include "taskgroups.h"

static int root(void *group)
{
    static struct child leaves[] = {{"a", 1, 0, 0}, {"b", 2, 0, 0}};

    tell("root", coil_sleep(COIL_SEC(1)));
    return start_children(group, leaves, 2);
}

SCENARIO(group_children_may_start_children)
{
    coil_group group;

    coil_group_enter(&group);
    return leave("group", &group, start_child(&group, root, &group) ? 0 : -ENOMEM);
}
