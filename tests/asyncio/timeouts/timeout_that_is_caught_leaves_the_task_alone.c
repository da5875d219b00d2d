/* A task that catches its timeout ends well, not cancelled. */
#include "timeouts.h"

static int outer(void *arg)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    (void)arg;
    if (rc < 0)
        return rc;
    rc = leave("timeout", &scope, tell("sleep", coil_sleep(COIL_SEC(10))));
    trace("caught %s", outcome(rc));
    return tell("sleep", coil_sleep(COIL_SEC(1)));
}

SCENARIO(timeout_that_is_caught_leaves_the_task_alone)
{
    coil_task *task = start(outer, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("task", coil_task_await(task));
    trace("done %d, cancelled %d", coil_future_done(coil_task_future(task)),
          coil_future_cancelled(coil_task_future(task)));
    return 0;
}
