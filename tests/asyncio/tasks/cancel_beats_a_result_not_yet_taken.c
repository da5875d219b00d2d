/* The future is set, its awaiter ready: cancelled before it runs, it never sees the
 * result. */
#include "../scenario.h"

static int body(void *future)
{
    return tell("first", coil_await(future));
}

SCENARIO(cancel_beats_a_result_not_yet_taken)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 5, NULL, NULL);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future %s", state(future));
    return 0;
}
