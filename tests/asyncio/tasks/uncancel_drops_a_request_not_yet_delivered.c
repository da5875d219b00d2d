/* A task that asks itself to end and takes that back before it waits hears nothing of it.
 */
#include "../scenario.h"

static int body(void *arg)
{
    coil_task *task = coil_task_current();

    coil_task_cancel(task, NULL);
    coil_task_cancel(task, NULL);
    trace("counted %d", coil_task_cancelling(task));
    trace("%d left", coil_uncancel());
    trace("%d left", coil_uncancel());
    trace("%d left", coil_uncancel());
    trace("future: %s", outcome(coil_await(arg)));
    return 42;
}

SCENARIO(uncancel_drops_a_request_not_yet_delivered)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 7, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
