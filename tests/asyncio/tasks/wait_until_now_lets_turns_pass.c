/* wait() until now is a look around: it returns in the turn after its timer has run. */
#include "tasks.h"

static int yielder(void *arg)
{
    (void)arg;
    return turns(1);
}

SCENARIO(wait_until_now_lets_turns_pass)
{
    coil_task *first = start(yielder, NULL), *second = start(sleeper, SECONDS(1));
    coil_future *futures[2];

    if (second == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(first);
    futures[1] = coil_task_future(second);
    for (int seconds = 0; seconds >= -1; seconds--) {
        coil_task *ticks = start(ticker, TURNS(4));
        int done = coil_wait(futures, 2, COIL_WAIT_ALL, coil_in(COIL_SEC(seconds)));

        if (done < 0 || ticks == NULL)
            return -ENOMEM;
        trace("done %d, pending %d", done, 2 - done);
        coil_task_await(ticks);
    }
    coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
    return 0;
}
