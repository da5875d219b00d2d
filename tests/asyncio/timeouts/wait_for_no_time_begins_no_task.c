/* With no time at all a task that has not begun never does. */
#include "../scenario.h"

static int never(void *arg)
{
    (void)arg;
    trace("never printed");
    return 0;
}

SCENARIO(wait_for_no_time_begins_no_task)
{
    coil_task *task;

    start(ticker, TURNS(5));
    task = start(never, NULL);
    if (task == NULL)
        return -ENOMEM;
    tell("wait_for", coil_wait_for(coil_task_future(task), coil_in(0)));
    return 0;
}
