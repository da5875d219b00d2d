/* A parent may make a failure of its own out of its child's cancellation. */
#include "../scenario.h"

static int child(void *future)
{
    coil_future_set(future, 0, NULL, NULL);
    return tell("child", coil_sleep(COIL_SEC(10)));
}

static void call_off(void *task)
{
    coil_task_cancel(task, "called off");
}

static int parent(void *arg)
{
    coil_future *future = new_future();
    coil_task *task = start(child, future);
    int rc;

    (void)arg;
    if (task == NULL)
        return -ENOMEM;
    rc = coil_await(future);
    if (rc == 0)
        rc = coil_call_soon(call_off, task, NULL);
    if (rc < 0)
        return rc;
    if (coil_task_await(task) != -ECANCELED)
        return 0;
    trace("parent: %s", coil_future_cancel_reason(coil_task_future(task)));
    return -EINVAL;
}

SCENARIO(cancelled_child_makes_its_parent_fail)
{
    coil_task *task = start(parent, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("counted: %d", coil_task_cancelling(task));
    return 0;
}
