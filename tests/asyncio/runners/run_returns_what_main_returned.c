/* What the main coroutine returns, run() returns. */
#include "runners.h"

static int main_task(void *arg)
{
    int rc;

    (void)arg;
    rc = coil_sleep(COIL_SEC(1));
    trace("main ends");
    return rc < 0 ? rc : 42;
}

PLAIN_SCENARIO(run_returns_what_main_returned)
{
    trace("run: %s", outcome(run(main_task, NULL)));
    return 0;
}
