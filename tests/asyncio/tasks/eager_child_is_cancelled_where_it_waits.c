/* An eager child that waits is cancelled there, with the reason. */
#include "../scenario.h"

static int child(void *arg)
{
    int rc;

    (void)arg;
    trace("child waits");
    rc = coil_sleep(COIL_SEC(9));
    if (rc == -ECANCELED)
        trace("child is told: %s", coil_cancel_reason());
    return rc;
}

SCENARIO(eager_child_is_cancelled_where_it_waits)
{
    coil_task *task = start_with(child, NULL, &(coil_spawn_opts){.eager = true});

    if (task == NULL)
        return -ENOMEM;
    trace("cancel: %d", coil_task_cancel(task, "changed my mind"));
    trace("requests: %d, %s", coil_task_cancelling(task), state(coil_task_future(task)));
    tell("awaited", coil_task_await(task));
    return 0;
}
