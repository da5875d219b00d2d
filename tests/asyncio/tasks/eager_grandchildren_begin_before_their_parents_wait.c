/* An eager child may spawn eagerly: whoever waits hands back to the one that spawned it,
 * one by one. */
#include "../scenario.h"

static int level(void *arg)
{
    int depth = *(int *)arg, inner = depth - 1, rc;
    coil_task *task = NULL;

    trace("%d begins", depth);
    if (depth > 1)
        task = start_with(level, &inner, &(coil_spawn_opts){.eager = true});
    trace("%d waits", depth);
    rc = coil_sleep(COIL_SEC(depth));
    trace("%d goes on", depth);
    if (task != NULL)
        rc = coil_task_await(task);
    return rc;
}

SCENARIO(eager_grandchildren_begin_before_their_parents_wait)
{
    int depth = 3;
    coil_task *task = start_with(level, &depth, &(coil_spawn_opts){.eager = true});

    trace("main waits");
    return task != NULL ? coil_task_await(task) : -ENOMEM;
}
