/* Tasks that are left when main has ended are cancelled, and waited for. */
#include "runners.h"

static int leftover(void *arg)
{
    int seconds = *(int *)arg, rc;

    tell("leftover", coil_sleep(COIL_SEC(10)));
    coil_cancel_caught();
    rc = coil_sleep(COIL_SEC(seconds));
    trace("leftover of %d s has cleaned up", seconds);
    return rc;
}

static int main_task(void *arg)
{
    static int one = 1, three = 3;
    int rc;

    (void)arg;
    if (start(leftover, &one) == NULL || start(leftover, &three) == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(2));
    trace("main ends");
    return rc < 0 ? rc : 123;
}

PLAIN_SCENARIO(run_cancels_what_main_leaves_behind)
{
    trace("run: %s", outcome(run(main_task, NULL)));
    return 0;
}
