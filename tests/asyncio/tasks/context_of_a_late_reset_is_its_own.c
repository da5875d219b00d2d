/* A value that is set for a region of code is inherited by what was spawned in it, and
 * outlives the region there. */
#include "../scenario.h"

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static const char *get(void)
{
    return coil_var_get(&color);
}

static int child(void *name)
{
    int rc = coil_sleep(COIL_SEC(1));

    trace("%s: %s", (char *)name, get());
    return rc;
}

static coil_task *serve(char *name)
{
    coil_var_token token;
    coil_task *task;

    if (coil_var_set(&color, name, &token) < 0)
        return NULL;
    task = start(child, name);
    coil_yield();
    coil_var_reset(&color, &token);
    trace("after %s: %s", name, get());
    return task;
}

SCENARIO(context_of_a_late_reset_is_its_own)
{
    coil_task *red = serve("red"), *green = serve("green");

    if (red == NULL || green == NULL)
        return -ENOMEM;
    coil_task_await(red);
    return coil_task_await(green);
}
