/*
 * Cancelled by somebody else before the deadline: the block is cancelled, and has not
 * expired.
 */
#include "timeouts.h"

static int body(void *arg)
{
    coil_scope scope;
    int rc = enter(&scope, 10);

    (void)arg;
    if (rc < 0)
        return rc;
    coil_task_cancel(coil_task_current(), NULL);
    return leave("timeout", &scope, tell("sleep", coil_sleep(COIL_SEC(10))));
}

SCENARIO(timeout_does_not_claim_a_foreign_cancellation)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("task", coil_task_await(task));
    trace("cancelled %d", coil_future_cancelled(coil_task_future(task)));
    return 0;
}
