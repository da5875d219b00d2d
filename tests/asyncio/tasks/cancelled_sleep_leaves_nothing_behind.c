/* A sleep that is cancelled wakes nobody at the deadline it had. */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    for (int seconds = 5; seconds <= 7; seconds += 2) {
        trace("sleep of %d: %s", seconds, outcome(coil_sleep(COIL_SEC(seconds))));
        coil_cancel_caught();
    }
    return 0;
}

SCENARIO(cancelled_sleep_leaves_nothing_behind)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    turns(2);
    trace("state: %s", state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
