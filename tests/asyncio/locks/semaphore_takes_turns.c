/*
 * Tasks that give a semaphore back and want it again at once take turns: nobody comes
 * twice before the others came once.
 */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(1);

static int user(void *name)
{
    for (int visit = 1; visit <= 2; visit++) {
        int rc = coil_semaphore_acquire(&slots);

        if (rc < 0)
            return rc;
        trace("%s's visit %d", (char *)name, visit);
        rc = coil_sleep(COIL_SEC(1));
        coil_semaphore_release(&slots);
        if (rc < 0)
            return rc;
    }
    return 0;
}

SCENARIO(semaphore_takes_turns)
{
    static const char *const names[] = {"a", "b", "c"};
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, user, (void *)names[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    if (rc < 0)
        return rc;
    trace("end");
    return 0;
}
