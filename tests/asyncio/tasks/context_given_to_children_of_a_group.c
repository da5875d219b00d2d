/* Children of a group can be given a context as well. */
#include "../scenario.h"

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static const char *get(void)
{
    return coil_var_get(&color);
}

static int set(const char *value)
{
    return coil_var_set(&color, (void *)(uintptr_t)value, NULL);
}

static int body(void *value)
{
    int rc;

    trace("%s finds %s", (char *)value, get());
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : set(value);
}

static int spawn_and_await(coil_group *group, char *value, coil_context *context)
{
    coil_spawn_opts opts = {.context = context};
    coil_task *task;
    int rc = coil_group_spawn(group, body, value, &opts, &task);

    return rc < 0 ? rc : coil_task_await(task);
}

static int say_color(void *who)
{
    trace("%s: %s", (char *)who, get());
    return 0;
}

SCENARIO(context_given_to_children_of_a_group)
{
    coil_context *context = coil_context_copy();
    coil_group group;
    int rc;

    if (context == NULL)
        return -ENOMEM;
    coil_group_enter(&group);
    rc = spawn_and_await(&group, "red", context);
    if (rc == 0)
        rc = spawn_and_await(&group, "green", context);
    if (rc == 0)
        rc = spawn_and_await(&group, "own", NULL);
    say_color("group");
    rc = coil_group_exit(&group, rc);
    coil_context_run(context, say_color, "context");
    coil_context_release(context);
    return rc;
}
