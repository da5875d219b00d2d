/*
 * A child of the outer group that fails cancels the owner, who waits in the nested
 * group: that one is cancelled, and only the failure comes out.
 */
#include "taskgroups.h"

static int owner(void *arg)
{
    static struct child children[] = {{"outer child", 1, -EIO, 0},
                                      {"inner child", 10, -EPROTO, 0}};
    coil_group outer, inner;
    int rc;

    (void)arg;
    coil_group_enter(&outer);
    rc = start_children(&outer, &children[0], 1);
    coil_group_enter(&inner);
    if (rc == 0)
        rc = start_children(&inner, &children[1], 1);
    rc = leave("inner", &inner, rc);
    return leave("outer", &outer, rc);
}

SCENARIO(group_failure_outside_cancels_the_group_inside)
{
    coil_task *task = start(owner, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("owner", coil_task_await(task));
    return 0;
}
