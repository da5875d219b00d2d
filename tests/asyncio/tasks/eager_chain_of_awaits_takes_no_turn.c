/* Children that spawn eagerly and await what they spawned: as long as nobody waits, no
 * turn passes. */
#include "../scenario.h"

static int count(void *depth)
{
    coil_spawn_opts opts = {.eager = true, .stack_bytes = 32 * 1024};
    coil_task *task;
    int rc;

    if (depth == NULL)
        return 0;
    rc = coil_spawn(count, (void *)((intptr_t)depth - 1), &opts, &task);
    if (rc < 0)
        return rc;
    rc = coil_task_await(task);
    coil_task_release(task);
    return rc < 0 ? rc : 1 + rc;
}

SCENARIO(eager_chain_of_awaits_takes_no_turn)
{
    coil_task *task;

    start(ticker, TURNS(2));
    task = start_with(count, (void *)(intptr_t)100, &(coil_spawn_opts){.eager = true});
    if (task == NULL)
        return -ENOMEM;
    tell("a hundred deep", coil_task_await(task));
    return turns(2);
}
