/* A runner that was closed runs nothing: an error, and the body is not called. */
#include "runners.h"

static int say(void *text)
{
    trace("%s", (char *)text);
    return coil_sleep(COIL_SEC(1));
}

PLAIN_SCENARIO(runner_that_was_closed_runs_no_more)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    rc = coil_runner_run(runner, say, "before");
    coil_runner_close(runner);
    if (coil_runner_run(runner, say, "after") == -ESHUTDOWN)
        trace("refused");
    trace("at the end");
    coil_runner_destroy(runner);
    return rc;
}
