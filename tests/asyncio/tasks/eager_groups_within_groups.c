/* Groups whose children open groups and do not wait themselves: each child has ended as
 * it is spawned. */
#include "../scenario.h"

#define DEPTH 4

static int begun;

static int branch(void *arg)
{
    int depth = *(int *)arg, inner = depth - 1, rc = 0;
    coil_group group;

    begun++;
    if (depth == 0)
        return 0;
    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, branch, &inner, &(coil_spawn_opts){.eager = true},
                              NULL);
    return coil_group_exit(&group, rc);
}

SCENARIO(eager_groups_within_groups)
{
    int depth = DEPTH;

    trace("begins");
    tell("outermost", branch(&depth));
    trace("children: %d", begun);
    return 0;
}
