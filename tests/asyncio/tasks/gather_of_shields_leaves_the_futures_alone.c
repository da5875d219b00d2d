/* Cancelling a gather cancels tasks that wait behind shields, and not what they wait for.
 */
#include "../scenario.h"

static coil_future *futures[2], *tasks[2];

static int waiter(void *future)
{
    return tell(future == futures[0] ? "waiter 0" : "waiter 1", coil_shield(future));
}

static int gatherer(void *arg)
{
    (void)arg;
    return tell("gather", coil_gather(tasks, 2, 0, NULL));
}

SCENARIO(gather_of_shields_leaves_the_futures_alone)
{
    coil_task *parent;

    for (int i = 0; i < 2; i++)
        futures[i] = new_future();
    for (int i = 0; i < 2; i++) {
        coil_task *task = start(waiter, futures[i]);

        if (task == NULL)
            return -ENOMEM;
        tasks[i] = coil_task_future(task);
    }
    parent = start(gatherer, NULL);
    if (parent == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(parent, NULL);
    trace("parent: %s", outcome(coil_task_await(parent)));
    trace("tasks %s %s", state(tasks[0]), state(tasks[1]));
    trace("futures %s %s", state(futures[0]), state(futures[1]));
    coil_future_set(futures[0], 1, NULL, NULL);
    turns(2);
    trace("futures %s %s", state(futures[0]), state(futures[1]));
    return 0;
}
