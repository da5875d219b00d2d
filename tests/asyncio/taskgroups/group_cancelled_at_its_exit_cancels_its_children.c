/*
 * Whoever is cancelled while it waits for its children cancels them, in the order in
 * which they were started, and is cancelled when they have ended.
 */
#include "taskgroups.h"

static int owner(void *arg)
{
    static struct child children[] = {
        {"a", 5, 0, 0}, {"b", 5, 0, 0}, {"c", 5, 0, 0}, {"d", 5, 0, 0}, {"e", 5, 0, 0}};
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    return leave("group", &group, start_children(&group, children, 5));
}

SCENARIO(group_cancelled_at_its_exit_cancels_its_children)
{
    return cancel_after(1, start(owner, NULL));
}
