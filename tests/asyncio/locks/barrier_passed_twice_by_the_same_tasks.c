/*
 * Tasks that pass a barrier twice go through the second time only when all of them have
 * come again.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(3);

static int party(void *name)
{
    static const char *const rounds[] = {"first", "second"};

    for (int i = 0; i < 2; i++) {
        int rc = coil_barrier_wait(&barrier);

        if (rc < 0)
            return rc;
        trace("%s: %s", (char *)name, rounds[i]);
    }
    return 0;
}

SCENARIO(barrier_passed_twice_by_the_same_tasks)
{
    static const char *const names[] = {"a", "b", "c"};
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, party, (void *)names[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    return rc;
}
