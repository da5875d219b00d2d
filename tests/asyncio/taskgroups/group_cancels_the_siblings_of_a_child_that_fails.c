/*
 * A child's failure cancels its siblings, and comes out of the group when they have
 * ended.
 */
#include "taskgroups.h"

static void b_is(coil_future *b, void *arg)
{
    (void)arg;
    trace("b is %s", state(b));
}

static int owner(void)
{
    static struct child children[] = {{"a", 1, -EIO, 0}, {"b", 10, 0, 0}};
    coil_group group;
    coil_task *b;
    int rc = -ENOMEM;

    coil_group_enter(&group);
    start_child(&group, child, &children[0]);
    b = start_child(&group, child, &children[1]);
    if (b != NULL)
        rc = coil_future_add_callback(coil_task_future(b), b_is, NULL);
    return leave("group", &group, rc);
}

SCENARIO(group_cancels_the_siblings_of_a_child_that_fails)
{
    tell("owner", owner());
    return 0;
}
