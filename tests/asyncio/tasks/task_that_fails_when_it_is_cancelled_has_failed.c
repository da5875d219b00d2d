/* A task that answers its cancellation with a failure has failed and is not cancelled. */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    trace("slept: %s", outcome(coil_sleep(COIL_SEC(10))));
    return -EIO;
}

SCENARIO(task_that_fails_when_it_is_cancelled_has_failed)
{
    coil_task *task = start(body, NULL);
    coil_future *future;

    if (task == NULL)
        return -ENOMEM;
    future = coil_task_future(task);
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("state: %s", state(future));
    turns(1);
    trace("state: %s, cancelled: %d", state(future), coil_future_cancelled(future));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
