/* An eager child runs until it waits; then its spawner goes on. */
#include "../scenario.h"

static int child(void *arg)
{
    int rc;

    (void)arg;
    trace("child begins");
    rc = coil_sleep(COIL_SEC(2));
    if (rc < 0)
        return rc;
    trace("child goes on");
    return 6;
}

SCENARIO(eager_child_that_waits_hands_back_to_its_spawner)
{
    coil_task *task = start_with(child, NULL, &(coil_spawn_opts){.eager = true});

    if (task == NULL)
        return -ENOMEM;
    trace("spawned: %s", state(coil_task_future(task)));
    coil_sleep(COIL_SEC(1));
    trace("a second later: %s", state(coil_task_future(task)));
    return tell("awaited", coil_task_await(task)) < 0 ? -EPROTO : 0;
}
