/*
 * Several tasks that ask for the next one get theirs in the order in which they asked;
 * who asks for more than there are is told that it is over.
 */
#include "each.h"

static coil_as_completed each;

static int asker(void *name)
{
    coil_future *next;
    int rc = coil_as_completed_next(&each, &next);

    if (rc > 0)
        trace("%s gets %s", (char *)name, state(next));
    else if (rc == 0)
        trace("%s: over", (char *)name);
    return rc;
}

SCENARIO(as_completed_serves_tasks_in_the_order_in_which_they_ask)
{
    static struct work works[] = {{"a", 2, 1}, {"b", 1, 2}};
    static char *const names[] = {"first", "second", "third"};
    coil_future *futures[2];
    coil_group group;
    int rc;

    if (!start_all(works, futures, 2))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 2, COIL_NEVER);
    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, asker, names[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    coil_as_completed_finish(&each);
    return rc;
}
