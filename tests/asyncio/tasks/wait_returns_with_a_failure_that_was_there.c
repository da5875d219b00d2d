/* wait() for a failure returns at once where one of its tasks has failed already. */
#include "tasks.h"

static int body(void *arg)
{
    (void)arg;
    trace("fails");
    return -EIO;
}

SCENARIO(wait_returns_with_a_failure_that_was_there)
{
    coil_task *slow = start(sleeper, SECONDS(10)), *bad = start(body, NULL), *ticks;
    coil_future *futures[3];
    int done;

    if (bad == NULL)
        return -ENOMEM;
    turns(2);
    ticks = start(ticker, TURNS(3));
    if (ticks == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(slow);
    futures[1] = coil_task_future(bad);
    futures[2] = coil_task_future(ticks);
    done = coil_wait(futures, 2, COIL_WAIT_FIRST_EXCEPTION, COIL_NEVER);
    trace("done %d: slow %s, bad %s", done, state(futures[0]), state(futures[1]));
    coil_wait(futures, 3, COIL_WAIT_ALL, COIL_NEVER);
    trace("slow %s", state(futures[0]));
    return 0;
}
