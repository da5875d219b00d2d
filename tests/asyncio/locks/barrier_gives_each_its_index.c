/*
 * The tasks that pass a barrier get the order of their coming as an index; the last goes
 * on first, since it does not wait.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(3);

static int party(void *name)
{
    int index;

    trace("%s comes: %zu wait", (char *)name, coil_barrier_waiting(&barrier));
    index = coil_barrier_wait(&barrier);
    if (index < 0)
        return index;
    trace("%s passes with index %d", (char *)name, index);
    return 0;
}

SCENARIO(barrier_gives_each_its_index)
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
