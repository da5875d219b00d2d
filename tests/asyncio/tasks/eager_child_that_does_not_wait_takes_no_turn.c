/* An eager child that does not wait has ended when it is spawned; awaiting it takes no
 * turn. */
#include "../scenario.h"

static int child(void *arg)
{
    (void)arg;
    trace("child");
    return 5;
}

SCENARIO(eager_child_that_does_not_wait_takes_no_turn)
{
    coil_task *task;

    start(ticker, TURNS(3));
    task = start_with(child, NULL, &(coil_spawn_opts){.eager = true});
    if (task == NULL)
        return -ENOMEM;
    trace("spawned: %s", state(coil_task_future(task)));
    tell("awaited", coil_task_await(task));
    trace("yields");
    return turns(2);
}
