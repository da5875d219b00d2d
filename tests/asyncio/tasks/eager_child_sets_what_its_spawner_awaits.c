/* What a child sets before it waits is there when its spawner asks. */
#include "../scenario.h"

static int setter(void *future)
{
    trace("child sets");
    return coil_future_set(future, 4, NULL, NULL);
}

SCENARIO(eager_child_sets_what_its_spawner_awaits)
{
    coil_future *future = new_future();
    coil_task *task;

    if (future == NULL)
        return -ENOMEM;
    task = start_with(setter, future, &(coil_spawn_opts){.eager = true});
    if (task == NULL)
        return -ENOMEM;
    trace("child: %s, future: %s", state(coil_task_future(task)), state(future));
    return tell("awaited", coil_await(future)) < 0 ? -EPROTO : 0;
}
