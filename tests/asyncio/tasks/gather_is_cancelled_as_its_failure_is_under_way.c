/* A child has failed, gather knows and its task has not run yet: cancelled, it sees no
 * failure. */
#include "../scenario.h"

static coil_future *futures[2];

static int failing(void *future)
{
    int rc = coil_await(future);

    return rc < 0 ? rc : -EIO;
}

static int body(void *arg)
{
    (void)arg;
    return tell("gather", coil_gather(futures, 2, 0, NULL));
}

SCENARIO(gather_is_cancelled_as_its_failure_is_under_way)
{
    for (int delay = 1; delay <= 3; delay++) {
        coil_future *future = new_future(), *other = new_future();
        coil_task *child = start(failing, future), *task = start(body, NULL);
        int rc;

        if (task == NULL)
            return -ENOMEM;
        futures[0] = coil_task_future(child);
        futures[1] = other;
        turns(1);
        coil_future_set(future, 0, NULL, NULL);
        turns(delay);
        trace("after %d: child %s, task %s", delay, state(futures[0]),
              state(coil_task_future(task)));
        trace("cancel: %d", coil_task_cancel(task, NULL));
        rc = coil_task_await(task);
        trace("awaited: %s, other %s", outcome(rc), state(other));
    }
    return 0;
}
