/* Calls that are made soon, later, at a time or from outside run in a copy of the context
 * in which they were asked for. */
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

static void call(void *how)
{
    trace("%s: %s", (char *)how, get());
    set("gone");
}

static int ask(void)
{
    int rc = set("red");

    if (rc == 0)
        rc = coil_call_later(COIL_SEC(2), call, "later", NULL);
    if (rc == 0)
        rc = coil_call_at(coil_in(COIL_SEC(1)), call, "at", NULL);
    if (rc == 0)
        rc = coil_call_soon(call, "soon", NULL);
    if (rc == 0)
        rc = coil_post(coil_loop_current(), call, "post");
    if (rc == 0)
        rc = set("green");
    if (rc == 0)
        rc = coil_call_soon(call, "soon", NULL);
    return rc == 0 ? set("blue") : rc;
}

SCENARIO(context_of_a_call_is_that_of_its_asking)
{
    int rc = ask();

    if (rc == 0)
        rc = coil_sleep(COIL_SEC(3));
    trace("main: %s", get());
    return rc;
}
