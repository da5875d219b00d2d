/*
 * A child fails while its cancelled owner cleans up: the cleanup is cut off, and the
 * failure comes out.
 */
#include "taskgroups.h"

static int owner(void *arg)
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

SCENARIO(group_child_fails_while_the_body_cleans_up)
{
    return cancel_after(1, start(owner, NULL));
}
