/* An interrupt cancels main, and the future that main awaits. */
#include "runners.h"

#include <signal.h>

static void interrupt(void *arg)
{
    (void)arg;
    raise(SIGINT);
}

static int main_task(void *arg)
{
    coil_future *future = new_future();
    int rc;

    (void)arg;
    if (future == NULL || coil_call_later(COIL_SEC(2), interrupt, NULL, NULL) < 0)
        return -ENOMEM;
    rc = coil_await(future);
    if (rc == -ECANCELED)
        trace("main is told, future: %s", state(future));
    return rc;
}

PLAIN_SCENARIO(interrupt_cancels_what_main_awaits)
{
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(run(main_task, NULL)));
    return 0;
}
