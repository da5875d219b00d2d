/* Where somebody else has cancelled main as well, an interrupt is not taken for the
 * cause. */
#include "runners.h"

#include <signal.h>

static int canceller(void *task)
{
    int rc = coil_sleep(COIL_SEC(1));

    if (rc < 0)
        return rc;
    trace("cancel: %d", coil_task_cancel(task, NULL));
    raise(SIGINT);
    return 0;
}

static int main_task(void *arg)
{
    (void)arg;
    if (start(canceller, coil_task_current()) == NULL)
        return -ENOMEM;
    return tell("main", coil_sleep(COIL_SEC(10)));
}

PLAIN_SCENARIO(interrupt_of_a_main_that_is_cancelled_too)
{
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(run(main_task, NULL)));
    return 0;
}
