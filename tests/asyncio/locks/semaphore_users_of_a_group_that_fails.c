/*
 * A group whose child fails inside a semaphore of one cancels the children that wait for
 * it; the semaphore is free afterwards.
 */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(1);

static int use(const char *name)
{
    int rc = coil_semaphore_acquire(&slots);

    if (rc < 0)
        return rc;
    trace("%s is in", name);
    rc = coil_sleep(COIL_SEC(1));
    coil_semaphore_release(&slots);
    return rc == 0 && *name == 'b' ? -EIO : rc;
}

static int user(void *name)
{
    int rc = use(name);

    if (rc == -ECANCELED)
        trace("%s was cancelled", (char *)name);
    return rc;
}

SCENARIO(semaphore_users_of_a_group_that_fails)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, user, "a", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, user, "b", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, user, "c", NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("the group: %s", outcome(rc));
    trace("locked %d", coil_semaphore_locked(&slots));
    return 0;
}
