/* What the main coroutine fails with, run() fails with. */
#include "runners.h"

static int main_task(void *error)
{
    int rc = coil_sleep(COIL_SEC(1));

    trace("main fails");
    return rc < 0 ? rc : *(int *)error;
}

PLAIN_SCENARIO(run_fails_with_mains_failure)
{
    int io = -EIO, perm = -EPERM;

    trace("run: %s", outcome(run(main_task, &io)));
    trace("run: %s", outcome(run(main_task, &perm)));
    return 0;
}
