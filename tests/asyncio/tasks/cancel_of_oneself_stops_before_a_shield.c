/* A request for oneself ends the next wait behind a shield, and what is behind it goes
 * on. */
#include "../scenario.h"

static int inner(void *arg)
{
    int rc = tell("inner", coil_sleep(COIL_SEC(2)));

    (void)arg;
    return rc < 0 ? rc : 8;
}

static int body(void *task)
{
    coil_task_cancel(coil_task_current(), NULL);
    return tell("body", coil_shield(coil_task_future(task)));
}

SCENARIO(cancel_of_oneself_stops_before_a_shield)
{
    coil_task *inner_task = start(inner, NULL), *task = start(body, inner_task);

    if (task == NULL)
        return -ENOMEM;
    trace("task: %s", outcome(coil_task_await(task)));
    trace("inner: %s", state(coil_task_future(inner_task)));
    trace("inner: %s", outcome(coil_task_await(inner_task)));
    return 0;
}
