/* Children that start two more each, for ever, are stopped by one that fails. */
#include "taskgroups.h"

static int heads;

static int hydra(void *group)
{
    int rc;

    trace("head %d", ++heads);
    rc = coil_sleep(COIL_SEC(2));
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = coil_group_spawn(group, hydra, group, NULL, NULL);
    return rc;
}

static int hercules(void *arg)
{
    int rc = 0;

    (void)arg;
    while (heads < 10 && rc == 0)
        rc = coil_sleep(COIL_SEC(3));
    if (rc < 0)
        return rc;
    trace("enough");
    return -EIO;
}

static int owner(void)
{
    coil_group group;

    coil_group_enter(&group);
    start_child(&group, hydra, &group);
    return leave("group", &group, start_child(&group, hercules, NULL) ? 0 : -ENOMEM);
}

SCENARIO(group_that_keeps_growing_ends_with_a_failure)
{
    tell("owner", owner());
    trace("heads: %d", heads);
    return 0;
}
