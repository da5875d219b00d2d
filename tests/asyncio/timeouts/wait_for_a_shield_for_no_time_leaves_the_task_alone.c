/* A shielded task goes on, and has not even begun, when there is no time to wait. */
#include "../scenario.h"

static int worker(void *arg)
{
    int rc = tell("worker", coil_sleep(COIL_SEC(3)));

    (void)arg;
    return rc < 0 ? rc : 5;
}

static int shield_for(coil_future *future, int64_t deadline)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, deadline);

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_shield(future));
}

SCENARIO(wait_for_a_shield_for_no_time_leaves_the_task_alone)
{
    coil_task *task = start(worker, NULL);

    if (task == NULL)
        return -ENOMEM;
    start(ticker, TURNS(4));
    tell("wait_for", shield_for(coil_task_future(task), coil_in(0)));
    trace("task %s, cancelling %d", state(coil_task_future(task)),
          coil_task_cancelling(task));
    tell("task", coil_task_await(task));
    return 0;
}
