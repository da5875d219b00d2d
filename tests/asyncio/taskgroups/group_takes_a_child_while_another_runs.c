/* A child may come while others run already; the group waits for it, too. */
#include "taskgroups.h"

SCENARIO(group_takes_a_child_while_another_runs)
{
    static struct child children[] = {{"a", 1, 0, 0}, {"b", 3, 0, 0}};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_children(&group, &children[0], 1);
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(2)));
    if (rc == 0)
        rc = start_children(&group, &children[1], 1);
    return leave("group", &group, rc);
}
