/* What one run of a runner sets, the next one sees; the caller does not. */
#include "runners.h"

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static int swap(void *value)
{
    char *old = coil_var_get(&color);
    int rc = coil_sleep(COIL_SEC(1));

    if (rc == 0)
        rc = coil_var_set(&color, value, NULL);
    trace("was %s, is %s", old, (char *)coil_var_get(&color));
    return rc;
}

static int run_three(void)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    rc = coil_runner_run(runner, swap, "red");
    if (rc == 0)
        rc = coil_runner_run(runner, swap, "green");
    trace("caller: %s", (char *)coil_var_get(&color));
    if (rc == 0)
        rc = coil_runner_run(runner, swap, "blue");
    coil_runner_destroy(runner);
    return rc;
}

PLAIN_SCENARIO(runner_keeps_its_context)
{
    coil_var_token token;
    int rc = coil_var_set(&color, "white", &token);

    if (rc < 0)
        return rc;
    rc = run_three();
    coil_var_reset(&color, &token);
    return rc;
}
