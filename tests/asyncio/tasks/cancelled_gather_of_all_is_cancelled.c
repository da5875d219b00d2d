/* gather of all, in a loop, collects no cancellation of its own waiter: that one ends. */
#include "tasks.h"

static int body(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc == 0) {
        coil_task *task = start(sleeper, SECONDS(2));
        coil_future *future;

        if (task == NULL)
            return -ENOMEM;
        future = coil_task_future(task);
        rc = tell("gather", coil_gather(&future, 1, COIL_GATHER_ALL, NULL));
    }
    return rc;
}

SCENARIO(cancelled_gather_of_all_is_cancelled)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(5));
    coil_task_cancel(task, "enough");
    if (coil_task_await(task) == -ECANCELED)
        trace("cancelled: %s", coil_future_cancel_reason(coil_task_future(task)));
    return 0;
}
