/* A main that catches the cancellation of an interrupt returns as it likes, and so does
 * run(). */
#include "runners.h"

#include <signal.h>

static void interrupt(void *arg)
{
    (void)arg;
    raise(SIGINT);
}

static int main_task(void *arg)
{
    int rc = coil_call_later(COIL_SEC(1), interrupt, NULL, NULL);

    (void)arg;
    if (rc < 0)
        return rc;
    tell("main", coil_sleep(COIL_SEC(10)));
    coil_cancel_caught();
    rc = coil_sleep(COIL_SEC(2));
    trace("main has cleaned up, requests: %d", coil_task_cancelling(coil_task_current()));
    return rc < 0 ? rc : 7;
}

PLAIN_SCENARIO(interrupt_that_main_catches_is_its_affair)
{
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(run(main_task, NULL)));
    return 0;
}
