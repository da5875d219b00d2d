/*
 * Two tasks that come back while the round drains wait; with the others, who meet
 * elsewhere first, they make the next round.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(5), elsewhere = COIL_BARRIER_INIT(3);

static int pass(const char *name, const char *what, coil_barrier *which)
{
    int index = coil_barrier_wait(which);

    if (index >= 0)
        trace("%s %s: index %d", name, what, index);
    return index < 0 ? index : 0;
}

static int party(void *name)
{
    static int returning = 2;
    int rc = pass(name, "passes", &barrier);

    if (rc == 0 && returning > 0) {
        returning--;
        trace("%s returns at once", (char *)name);
    } else if (rc == 0) {
        rc = pass(name, "was elsewhere", &elsewhere);
    }
    return rc < 0 ? rc : pass(name, "passes again", &barrier);
}

SCENARIO(barrier_newcomers_wait_while_it_drains)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 5 && rc == 0; i++)
        rc = coil_group_spawn(&group, party, (void *)names[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("%zu wait", coil_barrier_waiting(&barrier));
    return rc;
}
