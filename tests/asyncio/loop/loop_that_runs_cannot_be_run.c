/* A loop is not run from its own callbacks, and goes on when somebody has tried. */
#include "calls.h"

static void run_again(void *loop)
{
    trace("running: %d", coil_loop_running(loop));
    if (coil_loop_run_forever(loop) == -EBUSY)
        trace("refused");
    soon(say, "goes on");
    later(1, stop, NULL);
}

LOOP_SCENARIO(loop_that_runs_cannot_be_run)
{
    int rc;

    trace("running: %d", coil_loop_running(loop));
    soon(run_again, loop);
    rc = run_loop(loop);
    trace("running: %d", coil_loop_running(loop));
    return rc;
}
