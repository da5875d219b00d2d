/* A run that fails, or is cancelled, does not keep the runner from another. */
#include "runners.h"

static int fail(void *arg)
{
    int rc;

    (void)arg;
    rc = coil_sleep(COIL_SEC(1));
    trace("fails");
    return rc < 0 ? rc : -EIO;
}

static int cancel(void *arg)
{
    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    return coil_sleep(COIL_SEC(1));
}

static int work(void *arg)
{
    int rc;

    (void)arg;
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 5;
}

PLAIN_SCENARIO(runner_goes_on_after_a_failed_run)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    trace("run: %s", outcome(coil_runner_run(runner, fail, NULL)));
    trace("run: %s", outcome(coil_runner_run(runner, cancel, NULL)));
    trace("run: %s", outcome(coil_runner_run(runner, work, NULL)));
    coil_runner_destroy(runner);
    return 0;
}
