/* Failures that arise as a nested group is cancelled come out of both groups. */
#include "taskgroups.h"

static int owner(void *arg)
{
    static struct child children[] = {
        {"a", 10, 0, -EIO}, {"b", 10, 0, -EIO}, {"c", 10, 0, -EIO}};
    coil_group outer, inner;
    int rc;

    (void)arg;
    coil_group_enter(&outer);
    coil_group_enter(&inner);
    rc = start_children(&inner, children, 3);
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(10)));
    rc = leave("inner", &inner, rc);
    return leave("outer", &outer, rc);
}

SCENARIO(group_in_a_group_hands_its_failures_outward)
{
    return cancel_after(1, start(owner, NULL));
}
