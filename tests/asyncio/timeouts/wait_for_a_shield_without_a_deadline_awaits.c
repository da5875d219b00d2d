/* Without a deadline a shielded task is awaited to its end. */
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

SCENARIO(wait_for_a_shield_without_a_deadline_awaits)
{
    coil_task *task = start(worker, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("wait_for", shield_for(coil_task_future(task), COIL_NEVER));
    trace("task %s, cancelling %d", state(coil_task_future(task)),
          coil_task_cancelling(task));
    tell("task", coil_task_await(task));
    return 0;
}
