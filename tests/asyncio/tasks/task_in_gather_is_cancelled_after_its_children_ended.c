/* The children have ended and gather has not yet returned: a cancel still reaches the
 * task. */
#include "tasks.h"

static coil_task *child_task, *task;

static int outer(void *arg)
{
    coil_future *future = coil_task_future(child_task);

    (void)arg;
    return tell("outer", coil_gather(&future, 1, 0, NULL));
}

static void cancel(coil_future *future, void *arg)
{
    const char *child = state(coil_task_future(child_task));

    (void)future;
    (void)arg;
    trace("child %s, cancel it: %d", child, coil_task_cancel(child_task, NULL));
    trace("cancel: %d", coil_task_cancel(task, NULL));
}

SCENARIO(task_in_gather_is_cancelled_after_its_children_ended)
{
    coil_future *future = new_future();

    child_task = start(awaiter, future);
    task = start(outer, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    if (coil_future_add_callback(future, cancel, NULL) < 0)
        return -ENOMEM;
    coil_future_set(future, 42, NULL, NULL);
    trace("outer task: %s", outcome(coil_task_await(task)));
    trace("child %s", state(coil_task_future(child_task)));
    return 0;
}
