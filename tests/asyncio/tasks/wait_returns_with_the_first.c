/* wait() for the first returns when that is done; the other goes on, and is not
 * cancelled. */
#include "tasks.h"

SCENARIO(wait_returns_with_the_first)
{
    coil_task *slow = start(sleeper, SECONDS(10)), *quick = start(sleeper, SECONDS(1));
    coil_future *futures[2];
    int done;

    if (quick == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(slow);
    futures[1] = coil_task_future(quick);
    done = coil_wait(futures, 2, COIL_WAIT_FIRST, COIL_NEVER);
    trace("done %d: slow %s, quick %s", done, state(futures[0]), state(futures[1]));
    done = coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("done %d: slow %s, quick %s", done, state(futures[0]), state(futures[1]));
    return 0;
}
