/*
 * Cancelled by somebody else in the turn of the deadline: the block has expired, and
 * is cancelled all the same.
 */
#include "timeouts.h"

static int body(void *arg)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    (void)arg;
    if (rc < 0)
        return rc;
    return leave("timeout", &scope, tell("sleep", coil_sleep(COIL_SEC(10))));
}

SCENARIO(timeout_that_meets_a_foreign_cancellation_gives_way)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    tell("task", coil_task_await(task));
    trace("cancelling %d", coil_task_cancelling(task));
    return 0;
}
