/*
 * The same one task further: who awaits the owner of the group is cancelled, and gets
 * its failure.
 */
#include "taskgroups.h"

static int nested(void *arg)
{
    static struct child children[] = {{"child", 3, -EIO, 0}};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = start_children(&group, children, 1);
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(10)));
    if (rc == -ECANCELED) {
        coil_cancel_caught();
        tell("cleanup", coil_sleep(COIL_SEC(5)));
    }
    return leave("group", &group, rc);
}

static int owner(void *arg)
{
    coil_task *task = start(nested, NULL);

    (void)arg;
    return task != NULL ? tell("nested", coil_task_await(task)) : -ENOMEM;
}

SCENARIO(group_in_an_awaited_task_fails_while_it_cleans_up)
{
    return cancel_after(1, start(owner, NULL));
}
