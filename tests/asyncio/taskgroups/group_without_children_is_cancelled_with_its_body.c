/* A group without children takes no turn to leave, cancelled or not. */
#include "taskgroups.h"

static int owner(void *arg)
{
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    return leave("group", &group, tell("body", coil_sleep(COIL_SEC(10))));
}

SCENARIO(group_without_children_is_cancelled_with_its_body)
{
    coil_group empty;
    coil_task *task;

    start(ticker, TURNS(4));
    coil_group_enter(&empty);
    leave("empty", &empty, 0);
    task = start(owner, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(2);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    tell("task", coil_task_await(task));
    return 0;
}
