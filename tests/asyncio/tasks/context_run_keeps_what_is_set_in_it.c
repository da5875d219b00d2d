/* A function that is run in a context sees what is set there, and what it sets stays
 * there. */
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

static void called_soon(void *arg)
{
    (void)arg;
    trace("called soon: %s", get());
}

static int swap(void *value)
{
    int rc;

    trace("found %s", get());
    rc = set(value);
    if (rc == 0)
        rc = coil_call_soon(called_soon, NULL, NULL);
    return rc < 0 ? rc : 3;
}

SCENARIO(context_run_keeps_what_is_set_in_it)
{
    coil_context *context;
    int rc = set("red");

    context = rc == 0 ? coil_context_copy() : NULL;
    if (context == NULL)
        return -ENOMEM;
    rc = set("green");
    trace("returned %s", outcome(coil_context_run(context, swap, "blue")));
    trace("main: %s", get());
    trace("returned %s", outcome(coil_context_run(context, swap, "black")));
    coil_context_release(context);
    return rc < 0 ? rc : turns(1);
}
