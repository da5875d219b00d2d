/* Between two awaiters of a future stands a callback that cancels both: the first has
 * run. */
#include "../scenario.h"

static coil_future *future;
static coil_task *tasks[2];

static int waiter(void *name)
{
    int rc = tell(name, coil_await(future));

    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

static void cancel_both(coil_future *done, void *arg)
{
    bool first = coil_task_cancel(tasks[0], NULL);

    (void)done;
    (void)arg;
    trace("cancel: %d %d", first, tasks[1] != NULL && coil_task_cancel(tasks[1], NULL));
}

SCENARIO(callback_cancels_a_task_that_is_ready)
{
    int rc;

    future = new_future();
    tasks[0] = start(waiter, "waiter 0");
    if (tasks[0] == NULL)
        return -ENOMEM;
    turns(1);
    rc = coil_future_add_callback(future, cancel_both, NULL);
    tasks[1] = start(waiter, "waiter 1");
    turns(1);
    coil_future_set(future, 0, NULL, NULL);
    if (rc < 0 || tasks[1] == NULL)
        return -ENOMEM;
    coil_future *both[] = {coil_task_future(tasks[0]), coil_task_future(tasks[1])};
    coil_wait(both, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("tasks: %s %s", state(both[0]), state(both[1]));
    return 0;
}
