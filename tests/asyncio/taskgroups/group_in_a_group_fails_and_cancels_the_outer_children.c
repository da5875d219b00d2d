/*
 * The children of an outer group are cancelled when the failure of the nested one
 * leaves it, and not before.
 */
#include "taskgroups.h"

static int owner(void *arg)
{
    static struct child children[] = {
        {"outer child", 10, 0, 0}, {"a", 10, 0, -EIO}, {"b", 10, 0, -EIO}};
    coil_group outer, inner;
    int rc;

    (void)arg;
    coil_group_enter(&outer);
    rc = start_children(&outer, children, 1);
    coil_group_enter(&inner);
    if (rc == 0)
        rc = start_children(&inner, children + 1, 2);
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(10)));
    rc = leave("inner", &inner, rc);
    return leave("outer", &outer, rc);
}

SCENARIO(group_in_a_group_fails_and_cancels_the_outer_children)
{
    return cancel_after(1, start(owner, NULL));
}
