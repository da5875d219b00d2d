/* Children of a body that fails before it waits for the first time never begin. */
#include "taskgroups.h"

static coil_task *tasks[2];

static int never(void *arg)
{
    (void)arg;
    trace("never printed");
    return 0;
}

static int owner(void)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < 2; i++)
        tasks[i] = start_child(&group, never, NULL);
    return leave("group", &group, tasks[1] != NULL ? -EIO : -ENOMEM);
}

SCENARIO(group_whose_body_fails_at_once_begins_no_child)
{
    start(ticker, TURNS(5));
    tell("owner", owner());
    if (tasks[1] == NULL)
        return -ENOMEM;
    trace("children %s %s", state(coil_task_future(tasks[0])),
          state(coil_task_future(tasks[1])));
    return 0;
}
