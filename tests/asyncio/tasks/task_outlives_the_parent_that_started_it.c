/* A parent that returns leaves its child running; somebody else may await it. */
#include "../scenario.h"

static coil_task *child_task;

static int child(void *arg)
{
    int rc = coil_sleep(COIL_SEC(2));

    (void)arg;
    trace("child ends");
    return rc < 0 ? rc : 6;
}

static int parent(void *arg)
{
    int rc;

    (void)arg;
    child_task = start(child, NULL);
    if (child_task == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(1));
    trace("parent ends");
    return rc;
}

SCENARIO(task_outlives_the_parent_that_started_it)
{
    coil_task *task = start(parent, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("parent: %s", outcome(coil_task_await(task)));
    if (child_task == NULL)
        return -ENOMEM;
    trace("cancel the parent: %d", coil_task_cancel(task, NULL));
    trace("child: %s, counted %d", state(coil_task_future(child_task)),
          coil_task_cancelling(child_task));
    trace("child: %s", outcome(coil_task_await(child_task)));
    return 0;
}
