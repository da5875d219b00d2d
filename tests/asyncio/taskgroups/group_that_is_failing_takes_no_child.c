/*
 * Once a child has failed nobody can start another, neither the siblings as they are
 * cancelled nor the body.
 */
#include "taskgroups.h"

static int failing(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    return rc == 0 ? -EIO : rc;
}

static void try_to_start(const char *who, coil_group *group)
{
    int rc = coil_group_spawn(group, failing, NULL, NULL, NULL);

    trace("%s: %s", who, rc == -ESHUTDOWN ? "refused" : "started");
}

static int sibling(void *group)
{
    int rc = tell("sibling", coil_sleep(COIL_SEC(10)));

    try_to_start("sibling", group);
    return rc;
}

static int owner(void)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    start_child(&group, failing, NULL);
    if (start_child(&group, sibling, &group) == NULL)
        return coil_group_exit(&group, -ENOMEM);
    rc = tell("body", coil_sleep(COIL_SEC(10)));
    try_to_start("body", &group);
    return leave("group", &group, rc);
}

SCENARIO(group_that_is_failing_takes_no_child)
{
    tell("owner", owner());
    return 0;
}
