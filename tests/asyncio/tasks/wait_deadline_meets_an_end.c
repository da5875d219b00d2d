/* A task that ends at the deadline of the wait() for it: the turn's order decides. */
#include "tasks.h"

SCENARIO(wait_deadline_meets_an_end)
{
    coil_task *early = start(sleeper, SECONDS(2)), *slow = start(sleeper, SECONDS(4));
    coil_future *futures[2];
    int done;

    if (slow == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(early);
    futures[1] = coil_task_future(slow);
    turns(1);
    done = coil_wait(futures, 2, COIL_WAIT_ALL, coil_in(COIL_SEC(2)));
    trace("done %d: %s %s", done, state(futures[0]), state(futures[1]));
    early = start(sleeper, SECONDS(2));
    if (early == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(early);
    done = coil_wait(futures, 2, COIL_WAIT_ALL, coil_in(COIL_SEC(2)));
    trace("done %d: %s %s", done, state(futures[0]), state(futures[1]));
    coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
    return 0;
}
