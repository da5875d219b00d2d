/* The result has passed the shield, and the waiter has not yet run: a cancel still
 * reaches it. */
#include "../scenario.h"

static int body(void *future)
{
    return tell("told", coil_shield(future));
}

static void cancel(coil_future *future, void *task)
{
    (void)future;
    trace("cancel: %d", coil_task_cancel(task, NULL));
}

SCENARIO(shield_waiter_is_cancelled_after_its_future_was_set)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    if (coil_future_add_callback(future, cancel, task) < 0)
        return -ENOMEM;
    coil_future_set(future, 1, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future: %s", state(future));
    return 0;
}
