/* An eager child that waits is among all tasks until it has ended. */
#include "../scenario.h"

static int add_name(coil_task *task, void *text)
{
    strcat(strcat(text, " "), coil_task_name(task));
    return 0;
}

static void look(const char *who)
{
    char text[256] = "";

    coil_task_each(add_name, text);
    trace("%s sees%s", who, text);
}

static int child(void *future)
{
    int rc;

    look("child");
    rc = coil_await(future);
    look("child");
    return rc;
}

SCENARIO(eager_child_that_waits_stays_among_all_tasks)
{
    coil_future *future = new_future();
    coil_task *task;
    int rc;

    if (future == NULL)
        return -ENOMEM;
    task =
        start_with(child, future, &(coil_spawn_opts){.eager = true, .name = "patient"});
    if (task == NULL)
        return -ENOMEM;
    look("main");
    coil_future_set(future, 0, NULL, NULL);
    rc = coil_task_await(task);
    look("main");
    return rc;
}
