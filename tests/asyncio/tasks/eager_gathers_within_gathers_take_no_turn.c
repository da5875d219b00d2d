/* Gathers of children that have ended as they were spawned, however deep, take no turn.
 */
#include "../scenario.h"

static int begun;

static int branch(void *arg)
{
    int depth = *(int *)arg, inner = depth - 1, rc = 0;
    coil_task *tasks[3] = {NULL};
    coil_future *futures[3];

    begun++;
    if (depth == 0)
        return 0;
    for (int i = 0; i < 3 && rc == 0; i++) {
        rc = coil_spawn(branch, &inner, &(coil_spawn_opts){.eager = true}, &tasks[i]);
        futures[i] = rc == 0 ? coil_task_future(tasks[i]) : NULL;
    }
    if (rc == 0)
        rc = coil_gather(futures, 3, 0, NULL);
    for (int i = 0; i < 3; i++)
        coil_task_release(tasks[i]);
    return rc;
}

SCENARIO(eager_gathers_within_gathers_take_no_turn)
{
    int depth = 3;

    start(ticker, TURNS(2));
    tell("outermost", branch(&depth));
    trace("children: %d", begun);
    return turns(2);
}
