/* A task that cancels itself and then awaits another cancels that one, and its future
 * too. */
#include "../scenario.h"

static int nested(void *future)
{
    return tell("nested", coil_await(future));
}

static int body(void *future)
{
    coil_task *task = start(nested, future);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(coil_task_current(), NULL);
    rc = coil_task_await(task);
    trace("body: %s, nested task %s", outcome(rc), state(coil_task_future(task)));
    return rc;
}

SCENARIO(cancel_of_oneself_reaches_what_is_awaited_next)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future: %s", state(future));
    return 0;
}
