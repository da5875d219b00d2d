/* An interrupt cancels a main that is never suspended but yields. */
#include "runners.h"

#include <signal.h>

static void interrupt(void *arg)
{
    (void)arg;
    raise(SIGINT);
}

static int main_task(void *arg)
{
    int rc = coil_call_soon(interrupt, NULL, NULL);

    (void)arg;
    while (rc == 0)
        rc = coil_yield();
    if (rc == -ECANCELED)
        trace("main is told");
    return rc;
}

PLAIN_SCENARIO(interrupt_reaches_a_main_that_yields)
{
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(run(main_task, NULL)));
    return 0;
}
