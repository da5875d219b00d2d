/* A runner runs one main after the other, on one loop, whose clock goes on. */
#include "runners.h"

static int say(void *text)
{
    trace("%s", (char *)text);
    return coil_sleep(COIL_SEC(1));
}

PLAIN_SCENARIO(runner_runs_again_and_again)
{
    coil_runner *runner;
    coil_loop *loop;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    loop = coil_runner_loop(runner);
    rc = coil_runner_run(runner, say, "first");
    if (rc == 0)
        rc = coil_runner_run(runner, say, "second");
    trace("same loop: %d", coil_runner_loop(runner) == loop);
    if (rc == 0)
        rc = coil_runner_run(runner, say, "third");
    coil_runner_close(runner);
    trace("closed: %d", coil_runner_loop(runner) == NULL);
    coil_runner_destroy(runner);
    return rc;
}
