/* A task whose gather has failed is cancelled in its next wait; the siblings are left
 * alone. */
#include "tasks.h"

static coil_future *futures[2];

static int body(void *arg)
{
    (void)arg;
    trace("gather: %s", outcome(coil_gather(futures, 2, 0, NULL)));
    return tell("sleep", coil_sleep(COIL_SEC(5)));
}

SCENARIO(gather_that_failed_cancels_nobody_any_more)
{
    coil_task *first = start(failer, SECONDS(1)), *second = start(sleeper, SECONDS(4));
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(first);
    futures[1] = coil_task_future(second);
    coil_sleep(COIL_SEC(2));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("sibling: %s, counted %d", state(futures[1]), coil_task_cancelling(second));
    trace("sibling: %s", outcome(coil_task_await(second)));
    return 0;
}
