/* A future that is cancelled ends the gather it is in; the other futures are not
 * cancelled. */
#include "../scenario.h"

static coil_future *futures[4];

static int body(void *arg)
{
    (void)arg;
    if (tell("gather", coil_gather(futures, 4, 0, NULL)) == -ECANCELED) {
        coil_cancel_caught();
        trace("counted: %d", coil_task_cancelling(coil_task_current()));
    }
    return tell("goes on", coil_sleep(COIL_SEC(1)));
}

static void look(void)
{
    trace("futures: %s %s %s %s", state(futures[0]), state(futures[1]), state(futures[2]),
          state(futures[3]));
}

SCENARIO(gather_takes_a_cancelled_future_for_a_failure)
{
    coil_task *task;

    for (int i = 0; i < 4; i++)
        futures[i] = new_future();
    task = start(body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(futures[0], 1, NULL, NULL);
    coil_future_cancel(futures[1], NULL);
    turns(3);
    look();
    coil_future_set(futures[2], 3, NULL, NULL);
    coil_future_set(futures[3], -EIO, NULL, NULL);
    trace("task: %s", outcome(coil_task_await(task)));
    look();
    return 0;
}
