/* Tasks that are given a context run in it, one after the other or side by side: what one
 * sets, the others see. */
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
    rc = set(value);
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(1));
    trace("%s has %s", (char *)value, get());
    return rc;
}

static int read_color(void *out)
{
    *(const char **)out = get();
    return 0;
}

static void show(coil_context *context)
{
    const char *inside = NULL;

    coil_context_run(context, read_color, &inside);
    trace("main: %s, context: %s", get(), inside);
}

static int run_three(coil_context *context)
{
    coil_spawn_opts opts = {.context = context};
    coil_task *red = start_with(body, "red", &opts), *green, *blue;

    if (red == NULL)
        return -ENOMEM;
    coil_task_await(red);
    show(context);
    green = start_with(body, "green", &opts);
    blue = start_with(body, "blue", &opts);
    if (green == NULL || blue == NULL)
        return -ENOMEM;
    coil_task_await(green);
    coil_task_await(blue);
    show(context);
    return 0;
}

SCENARIO(context_is_shared_by_tasks_that_are_given_it)
{
    coil_context *context;
    int rc = set("white");

    context = rc == 0 ? coil_context_copy() : NULL;
    if (context == NULL)
        return -ENOMEM;
    rc = set("main's");
    if (rc == 0)
        rc = run_three(context);
    coil_context_release(context);
    return rc;
}
