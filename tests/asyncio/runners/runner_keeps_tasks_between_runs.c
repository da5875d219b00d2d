/* What a run leaves behind stands still until the next run, and is cancelled as the
 * runner closes. */
#include "runners.h"

static int leftover(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int i = 0; i < 9 && rc == 0; i++) {
        trace("leftover: %d", i);
        rc = coil_sleep(COIL_SEC(3));
    }
    if (rc == -ECANCELED)
        trace("leftover is cancelled");
    return rc;
}

static int begin(void *arg)
{
    int rc;

    (void)arg;
    if (start(leftover, NULL) == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(2));
    trace("first run ends");
    return rc;
}

static int go_on(void *arg)
{
    (void)arg;
    trace("second run");
    return coil_sleep(COIL_SEC(5));
}

PLAIN_SCENARIO(runner_keeps_tasks_between_runs)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    rc = coil_runner_run(runner, begin, NULL);
    trace("between");
    if (rc == 0)
        rc = coil_runner_run(runner, go_on, NULL);
    trace("closing");
    coil_runner_destroy(runner);
    trace("closed");
    return rc;
}
