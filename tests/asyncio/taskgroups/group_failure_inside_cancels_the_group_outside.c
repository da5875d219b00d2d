/*
 * A failure in a nested group is the failure of the outer one's body: it cancels the
 * outer children.
 */
#include "taskgroups.h"

static int owner(void *arg)
{
    static struct child children[] = {{"outer child", 10, -EPROTO, 0},
                                      {"inner child", 1, -EIO, 0}};
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

SCENARIO(group_failure_inside_cancels_the_group_outside)
{
    coil_task *task = start(owner, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("owner", coil_task_await(task));
    return 0;
}
