/* A child begins with what is set as it is spawned; what either sets later the other does
 * not see. */
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
    rc = coil_sleep(COIL_SEC(2));
    trace("child: %s", get());
    if (rc == 0)
        rc = set("green");
    trace("child: %s", get());
    return rc;
}

SCENARIO(context_of_a_child_is_a_copy)
{
    coil_task *early = start(child, NULL),
              *late = set("red") == 0 ? start(child, NULL) : NULL;

    if (early == NULL || late == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    set("blue");
    trace("main: %s", get());
    coil_task_await(early);
    coil_task_await(late);
    trace("main: %s", get());
    return 0;
}
