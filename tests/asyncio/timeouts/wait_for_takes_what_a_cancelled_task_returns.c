/*
 * A task that catches its cancellation and returns a value: that is what comes of it,
 * in time or late.
 */
#include "../scenario.h"

static int catcher(void *arg)
{
    (void)arg;
    tell("sleep", coil_sleep(COIL_SEC(10)));
    coil_cancel_caught();
    return 1;
}

SCENARIO(wait_for_takes_what_a_cancelled_task_returns)
{
    for (int delay = 2; delay >= 0; delay -= 2) {
        coil_task *task = start(catcher, NULL);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        tell("wait_for", coil_wait_for(coil_task_future(task), coil_in(COIL_SEC(delay))));
    }
    return 0;
}
