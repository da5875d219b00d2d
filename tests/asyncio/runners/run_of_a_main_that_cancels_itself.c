/* A main coroutine that is cancelled by its own doing: run() says so, it was no
 * interrupt. */
#include "runners.h"

static int main_task(void *arg)
{
    int rc;

    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    trace("main waits");
    rc = coil_sleep(COIL_SEC(1));
    if (rc == 0)
        trace("never printed");
    return rc;
}

PLAIN_SCENARIO(run_of_a_main_that_cancels_itself)
{
    trace("run: %s", outcome(run(main_task, NULL)));
    return 0;
}
