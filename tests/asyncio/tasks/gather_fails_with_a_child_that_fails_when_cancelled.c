/* A task that gathers is cancelled; a child that answers with a failure decides what it
 * gets. */
#include "tasks.h"

static coil_future *futures[2];

static int stubborn(void *arg)
{
    (void)arg;
    trace("stubborn: %s", outcome(coil_sleep(COIL_SEC(10))));
    return -EIO;
}

static int body(void *arg)
{
    (void)arg;
    return tell("gather", coil_gather(futures, 2, 0, NULL));
}

SCENARIO(gather_fails_with_a_child_that_fails_when_cancelled)
{
    coil_task *first = start(stubborn, NULL), *second = start(sleeper, SECONDS(10));
    coil_task *task = start(body, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(first);
    futures[1] = coil_task_future(second);
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    rc = coil_task_await(task);
    trace("awaited: %s", outcome(rc));
    trace("counted: %d, children %s %s", coil_task_cancelling(task), state(futures[0]),
          state(futures[1]));
    return 0;
}
