/*
 * A child that somebody cancels is no failure of its group: more may be started, and
 * all is well in the end.
 */
#include "taskgroups.h"

SCENARIO(group_goes_on_when_a_child_is_cancelled)
{
    static struct child children[] = {{"a", 10, 0, 0}, {"b", 2, 0, 0}};
    coil_group group;
    coil_task *a, *b;

    coil_group_enter(&group);
    a = start_child(&group, child, &children[0]);
    if (a == NULL)
        return coil_group_exit(&group, -ENOMEM);
    coil_sleep(COIL_SEC(1));
    trace("cancel a: %d", coil_task_cancel(a, NULL));
    b = start_child(&group, child, &children[1]);
    leave("group", &group, b != NULL ? 0 : -ENOMEM);
    if (b != NULL)
        trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    return 0;
}
