/* A child has the name it was started with. */
#include "taskgroups.h"

static int say_name(void *arg)
{
    (void)arg;
    trace("child is %s", coil_task_name(coil_task_current()));
    return coil_yield();
}

SCENARIO(group_child_has_the_name_it_was_given)
{
    coil_spawn_opts opts = {.name = "yolo"};
    coil_group group;
    coil_task *task;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, say_name, NULL, &opts, &task);
    if (rc == 0)
        trace("it is %s", coil_task_name(task));
    return leave("group", &group, rc);
}
