/* With no time at all a task that runs is cancelled, and waited for. */
#include "../scenario.h"

static int sleeper(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    tell("sleep", rc == 0 ? 7 : rc);
    trace("ends");
    return rc == 0 ? 7 : rc;
}

SCENARIO(wait_for_no_time_cancels_what_runs)
{
    for (int delay = 0; delay >= -1; delay--) {
        coil_task *task = start(sleeper, NULL);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        start(ticker, TURNS(4));
        tell("wait_for", coil_wait_for(coil_task_future(task), coil_in(delay)));
        trace("task: %s", state(coil_task_future(task)));
        turns(2);
    }
    return 0;
}
