/* A child cancels its parent, which hands that back: the child is cancelled as it
 * returns. */
#include "../scenario.h"

static int child(void *parent)
{
    trace("child cancels: %d", coil_task_cancel(parent, NULL));
    trace("child counts %d", coil_task_cancelling(coil_task_current()));
    return 1;
}

static int parent(void *arg)
{
    coil_task *task = start(child, coil_task_current());
    int rc;

    (void)arg;
    if (task == NULL)
        return -ENOMEM;
    rc = tell("parent", coil_task_await(task));
    trace("parent counts %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

SCENARIO(child_cancels_the_parent_that_awaits_it)
{
    coil_task *task = start(parent, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
