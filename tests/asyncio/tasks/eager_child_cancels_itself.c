/* An eager child that cancels itself before it has waited hands back all the same, and is
 * told at its first wait. */
#include "../scenario.h"

static int child(void *arg)
{
    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    trace("child waits");
    tell("child", coil_sleep(COIL_SEC(5)));
    return -ECANCELED;
}

SCENARIO(eager_child_cancels_itself)
{
    coil_task *task;

    start(ticker, TURNS(2));
    task = start_with(child, NULL, &(coil_spawn_opts){.eager = true});
    if (task == NULL)
        return -ENOMEM;
    trace("spawned: %s", state(coil_task_future(task)));
    tell("awaited", coil_task_await(task));
    return 0;
}
