/* A task that hands a future to its parent has ended; the parent awaits the future
 * itself. */
#include "../scenario.h"

static void set(void *future)
{
    coil_future_set(future, 9, NULL, NULL);
}

static int giver(void *out)
{
    coil_future *future = new_future();

    *(coil_future **)out = future;
    return future != NULL ? coil_call_later(COIL_SEC(2), set, future, NULL) : -ENOMEM;
}

SCENARIO(task_hands_out_a_future_without_awaiting_it)
{
    coil_future *future = NULL;
    coil_task *task = start(giver, &future);
    int rc = task != NULL ? coil_task_await(task) : -ENOMEM;

    if (rc < 0)
        return rc;
    trace("the task is done; the future: %s", state(future));
    trace("the future: %s", outcome(coil_await(future)));
    return 0;
}
