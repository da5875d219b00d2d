/* wait() for a failure lets results and cancellations pass, and returns with a failure.
 */
#include "tasks.h"

static void cancel(void *future)
{
    coil_future_cancel(future, NULL);
}

SCENARIO(wait_returns_with_the_first_failure)
{
    coil_task *slow = start(sleeper, SECONDS(10)), *quick = start(sleeper, SECONDS(1));
    coil_task *bad = start(failer, SECONDS(3));
    coil_future *future = new_future();
    int rc, done;

    if (future == NULL)
        return -ENOMEM;
    coil_future *futures[] = {coil_task_future(slow), coil_task_future(quick),
                              coil_task_future(bad), future};
    rc = coil_call_later(COIL_SEC(2), cancel, future, NULL);
    if (rc < 0)
        return rc;
    done = coil_wait(futures, 4, COIL_WAIT_FIRST_EXCEPTION, COIL_NEVER);
    trace("done %d: %s %s %s %s", done, state(futures[0]), state(futures[1]),
          state(futures[2]), state(future));
    coil_task_await(slow);
    return 0;
}
