/* wait() returns with the last of its tasks; once all are done it takes no time, but
 * turns. */
#include "tasks.h"

SCENARIO(wait_returns_when_all_are_done)
{
    coil_task *two = start(sleeper, SECONDS(2)), *three = start(sleeper, SECONDS(3));

    if (three == NULL)
        return -ENOMEM;
    for (int i = 0; i < 2; i++) {
        coil_future *futures[] = {coil_task_future(two), coil_task_future(three)};
        coil_task *ticks = start(ticker, TURNS(3));
        int done = coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);

        if (done < 0 || ticks == NULL)
            return -ENOMEM;
        trace("done %d, pending %d", done, 2 - done);
        coil_task_await(ticks);
    }
    return 0;
}
