/* The list of all tasks has those that wait or have yet to begin, and none that has
 * ended. */
#include "tasks.h"

static int add_name(coil_task *task, void *text)
{
    if (task == coil_task_current())
        return 0;
    if (*(char *)text != '\0')
        strcat(text, " ");
    strcat(text, coil_task_name(task));
    return 0;
}

static void look(void)
{
    char text[256] = "";

    coil_task_each(add_name, text);
    trace("tasks: %s", text);
}

static coil_task *start_named(coil_task_fn fn, void *arg, const char *name)
{
    coil_task *task = start(fn, arg);

    if (task != NULL)
        coil_task_set_name(task, name);
    return task;
}

SCENARIO(all_tasks_are_those_that_have_not_ended)
{
    coil_future *future = new_future();
    coil_task *waiter;

    start_named(sleeper, SECONDS(1), "sleeper-1");
    start_named(sleeper, SECONDS(2), "sleeper-2");
    start_named(sleeper, SECONDS(3), "sleeper-3");
    look();
    waiter = start_named(awaiter, future, "waiter");
    if (waiter == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(2));
    look();
    coil_future_set(future, 0, NULL, NULL);
    look();
    turns(1);
    look();
    coil_sleep(COIL_SEC(1));
    look();
    trace("waiter: %s", state(coil_task_future(waiter)));
    return 0;
}
