/* Children that are given one context set their variables there, one after the other. */
#include "taskgroups.h"

static const coil_var var = COIL_VAR_INIT("var", (void *)0);

static int get(void *arg)
{
    (void)arg;
    return (int)(intptr_t)coil_var_get(&var);
}

static int set_later(void *value)
{
    coil_yield();
    trace("child finds %d", get(NULL));
    return coil_var_set(&var, value, NULL);
}

SCENARIO(group_children_share_a_context)
{
    coil_spawn_opts opts = {.context = coil_context_copy()};
    coil_group group;
    coil_task *task;
    int rc = opts.context != NULL ? 0 : -ENOMEM;

    coil_group_enter(&group);
    for (intptr_t i = 1; i <= 2 && rc == 0; i++) {
        rc = coil_group_spawn(&group, set_later, (void *)i, &opts, &task);
        if (rc == 0)
            rc = coil_task_await(task);
        if (rc == 0)
            trace("there %d, here %d", coil_context_run(opts.context, get, NULL),
                  get(NULL));
    }
    coil_context_release(opts.context);
    return leave("group", &group, rc);
}
