/* Who awaits a future that was cancelled can read why; a second cancel changes nothing.
 */
#include "../scenario.h"

static int body(void *future)
{
    int rc = coil_await(future);

    if (rc == -ECANCELED)
        trace("told: %s", coil_future_cancel_reason(future));
    return rc;
}

SCENARIO(future_keeps_the_reason_of_its_cancellation)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_future_cancel(future, "nobody asked"));
    trace("cancel: %d", coil_future_cancel(future, "another reason"));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future: %s", state(future));
    return 0;
}
