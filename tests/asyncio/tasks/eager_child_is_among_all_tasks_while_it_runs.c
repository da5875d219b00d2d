/* An eager child that does not wait is among all tasks while it runs, and then no more.
 */
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

static int child(void *arg)
{
    (void)arg;
    look("child");
    return 0;
}

SCENARIO(eager_child_is_among_all_tasks_while_it_runs)
{
    if (start_with(child, NULL, &(coil_spawn_opts){.eager = true, .name = "nimble"}) ==
        NULL)
        return -ENOMEM;
    look("main");
    return 0;
}
