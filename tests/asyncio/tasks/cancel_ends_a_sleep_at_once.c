/* A sleeping task that a callback cancels ends in that turn's wake, not at its deadline.
 */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    trace("sleeps");
    return tell("slept", coil_sleep(COIL_SEC(10)));
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

SCENARIO(cancel_ends_a_sleep_at_once)
{
    coil_task *task = start(body, NULL);

    if (task == NULL || coil_call_soon(cancel, task, NULL) < 0)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("state: %s", state(coil_task_future(task)));
    trace("cancel again: %d", coil_task_cancel(task, NULL));
    return 0;
}
