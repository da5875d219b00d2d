/*
 * A child fails, and the body fails otherwise when it is cancelled for that: both are
 * the group's failures, the child's first.
 */
#include "taskgroups.h"

static int nested(void)
{
    int rc = tell("nested", coil_sleep(COIL_SEC(10)));

    return rc < 0 ? -EPROTO : rc;
}

static int owner(void *arg)
{
    static struct child children[] = {{"child", 1, -EIO, 0}};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = start_children(&group, children, 1);
    return leave("group", &group, rc == 0 ? nested() : rc);
}

SCENARIO(group_adds_its_bodys_failure_to_a_childs)
{
    coil_task *task = start(owner, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("owner", coil_task_await(task));
    return 0;
}
