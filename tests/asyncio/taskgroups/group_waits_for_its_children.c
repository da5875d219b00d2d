/* A group ends when its last child has, and their results are there. */
#include "taskgroups.h"

SCENARIO(group_waits_for_its_children)
{
    static struct child children[] = {{"a", 1, 42, 0}, {"b", 2, 11, 0}};
    coil_task *a, *b;
    coil_group group;

    coil_group_enter(&group);
    a = start_child(&group, child, &children[0]);
    b = start_child(&group, child, &children[1]);
    if (b == NULL)
        return coil_group_exit(&group, -ENOMEM);
    trace("body: %s %s", state(coil_task_future(a)), state(coil_task_future(b)));
    leave("group", &group, 0);
    trace("after: %s %s", state(coil_task_future(a)), state(coil_task_future(b)));
    return 0;
}
