/* The failure of an eager child is for whoever awaits it, not for whoever spawns it. */
#include "../scenario.h"

static int child(void *arg)
{
    (void)arg;
    trace("child fails");
    return -EIO;
}

static int sleeper(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

SCENARIO(eager_child_fails_at_once)
{
    coil_task *task = start_with(child, NULL, &(coil_spawn_opts){.eager = true});
    coil_task *other = start(sleeper, NULL);

    if (task == NULL || other == NULL)
        return -ENOMEM;
    trace("spawned: %s", state(coil_task_future(task)));
    tell("gathered",
         coil_gather((coil_future *[]){coil_task_future(task), coil_task_future(other)},
                     2, 0, NULL));
    tell("awaited", coil_task_await(task));
    return 0;
}
