/* A task keeps the name it was given, inside and outside, and may be given another. */
#include "../scenario.h"

static int body(void *arg)
{
    coil_task *task = coil_task_current();
    int rc;

    (void)arg;
    trace("begins as %s", coil_task_name(task));
    rc = coil_sleep(COIL_SEC(1));
    trace("goes on as %s", coil_task_name(task));
    return rc;
}

SCENARIO(task_has_the_name_it_was_given)
{
    coil_spawn_opts opts = {.name = "no-op"};
    coil_task *task;
    int rc = coil_spawn(body, NULL, &opts, &task);

    if (rc < 0)
        return rc;
    trace("created: %s", coil_task_name(task));
    turns(1);
    coil_task_set_name(task, "op");
    trace("renamed: %s", coil_task_name(task));
    coil_task_await(task);
    trace("ended: %s", coil_task_name(task));
    coil_task_release(task);
    return 0;
}
