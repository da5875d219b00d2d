/* An eager child may await its spawner, which has not even got hold of it. */
#include "../scenario.h"

static int child(void *spawner)
{
    trace("child waits");
    tell("child", coil_task_await(spawner));
    return 0;
}

static int spawner(void *arg)
{
    int rc;

    (void)arg;
    if (start_with(child, coil_task_current(), &(coil_spawn_opts){.eager = true}) == NULL)
        return -ENOMEM;
    trace("spawner goes on");
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 8;
}

SCENARIO(eager_child_awaits_its_spawner)
{
    coil_task *task = start(spawner, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("spawner", coil_task_await(task));
    return turns(1);
}
