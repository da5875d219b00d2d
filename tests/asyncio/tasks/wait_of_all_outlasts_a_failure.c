/* wait() for all does not return for a failure, nor fail itself. */
#include "tasks.h"

static int body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    if (rc < 0)
        return rc;
    trace("fails");
    return -EIO;
}

SCENARIO(wait_of_all_outlasts_a_failure)
{
    coil_task *bad = start(body, NULL), *good = start(sleeper, SECONDS(2));

    if (good == NULL)
        return -ENOMEM;
    for (int i = 0; i < 2; i++) {
        coil_future *futures[] = {coil_task_future(bad), coil_task_future(good)};
        int done = coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);

        trace("done %d, pending %d: %s %s", done, 2 - done, state(futures[0]),
              state(futures[1]));
    }
    return 0;
}
