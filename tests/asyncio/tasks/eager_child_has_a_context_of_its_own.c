/* An eager child begins with what its spawner has set; what it sets itself the spawner
 * does not see. */
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

static int child(void *arg)
{
    int rc;

    (void)arg;
    trace("child: %s", get());
    rc = set("green");
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(1));
    trace("child: %s", get());
    return rc == 0 ? set("blue") : rc;
}

SCENARIO(eager_child_has_a_context_of_its_own)
{
    coil_task *task;
    int rc = set("red");

    if (rc < 0)
        return rc;
    task = start_with(child, NULL, &(coil_spawn_opts){.eager = true});
    trace("main: %s", get());
    if (task == NULL)
        return -ENOMEM;
    rc = coil_task_await(task);
    trace("main: %s", get());
    return rc;
}
