/* Each run of a runner may be interrupted; one that is not ends as ever. */
#include "runners.h"

#include <signal.h>

static void interrupt(void *arg)
{
    (void)arg;
    raise(SIGINT);
}

static int main_task(void *interrupted)
{
    int rc = 0;

    if (interrupted != NULL)
        rc = coil_call_later(COIL_SEC(1), interrupt, NULL, NULL);
    if (rc == 0)
        rc = tell("main", coil_sleep(COIL_SEC(2)));
    return rc < 0 ? rc : 3;
}

PLAIN_SCENARIO(interrupt_is_taken_anew_in_each_run)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(coil_runner_run(runner, main_task, "yes")));
    trace("run: %s", outcome(coil_runner_run(runner, main_task, "yes")));
    trace("run: %s", outcome(coil_runner_run(runner, main_task, NULL)));
    coil_runner_destroy(runner);
    return 0;
}
