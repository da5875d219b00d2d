/* The last task has ended and wait() has not yet returned: a cancel still comes through.
 */
#include "../scenario.h"

static int body(void *arg)
{
    coil_future *future = arg;
    int rc = coil_wait(&future, 1, COIL_WAIT_ALL, COIL_NEVER);

    return tell("wait", rc < 0 ? rc : 0);
}

SCENARIO(wait_is_cancelled_as_its_task_ends)
{
    for (int delay = 0; delay < 3; delay++) {
        coil_future *future = new_future();
        coil_task *task = start(body, future);
        int rc;

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        coil_future_set(future, 1, NULL, NULL);
        turns(delay);
        trace("after %d: task %s", delay, state(coil_task_future(task)));
        trace("cancel: %d", coil_task_cancel(task, NULL));
        rc = coil_task_await(task);
        trace("awaited: %s, future %s", outcome(rc), state(future));
    }
    return 0;
}
