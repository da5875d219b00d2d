/* Cancelling an eager child that has ended does nothing. */
#include "../scenario.h"

static int child(void *arg)
{
    (void)arg;
    return 7;
}

SCENARIO(eager_child_that_has_ended_cannot_be_cancelled)
{
    coil_task *task = start_with(child, NULL, &(coil_spawn_opts){.eager = true});

    if (task == NULL)
        return -ENOMEM;
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("requests: %d", coil_task_cancelling(task));
    tell("awaited", coil_task_await(task));
    trace("cancelled: %d", coil_future_cancelled(coil_task_future(task)));
    return 0;
}
