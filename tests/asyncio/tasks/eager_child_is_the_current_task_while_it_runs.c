/* While an eager child runs it is the current task, and afterwards its spawner is again.
 */
#include "../scenario.h"

static const char *current(void)
{
    coil_task *task = coil_task_current();

    return task != NULL ? coil_task_name(task) : "none";
}

static int child(void *arg)
{
    int rc;

    (void)arg;
    trace("begins: %s", current());
    rc = coil_sleep(COIL_SEC(1));
    trace("goes on: %s", current());
    return rc;
}

SCENARIO(eager_child_is_the_current_task_while_it_runs)
{
    coil_task *task;
    int rc;

    trace("before: %s", current());
    task = start_with(child, NULL, &(coil_spawn_opts){.eager = true, .name = "child"});
    trace("after: %s", current());
    if (task == NULL)
        return -ENOMEM;
    rc = coil_task_await(task);
    trace("at the end: %s", current());
    return rc;
}
