/*
 * While the tasks of a round leave one by one, a newcomer is not counted; it is when the
 * last has left.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(4);

static int newcomer(void *arg)
{
    (void)arg;
    trace("the newcomer comes: %zu wait", coil_barrier_waiting(&barrier));
    return coil_barrier_wait(&barrier);
}

static int party(void *name)
{
    int index = coil_barrier_wait(&barrier);

    if (index < 0)
        return index;
    trace("%s leaves: %zu wait", (char *)name, coil_barrier_waiting(&barrier));
    if (*(char *)name == 'a' && start(newcomer, NULL) == NULL)
        return -ENOMEM;
    return index;
}

SCENARIO(barrier_drains_before_it_fills)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    for (int i = 0; i < 4; i++)
        if (start(party, (void *)names[i]) == NULL)
            return -ENOMEM;
    for (int turn = 1; turn < 5; turn++) {
        turns(1);
        trace("turn %d: %zu wait", turn, coil_barrier_waiting(&barrier));
    }
    return 0;
}
