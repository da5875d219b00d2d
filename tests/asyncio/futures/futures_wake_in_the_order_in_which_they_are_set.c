/* Of futures set in one turn, whoever awaits the one that was set first goes on first. */
#include "../scenario.h"

static coil_future *futures[4];

static int waiter(void *arg)
{
    int i = (int)(intptr_t)arg;

    trace("waiter %d: %s", i, outcome(coil_await(futures[i])));
    return 0;
}

SCENARIO(futures_wake_in_the_order_in_which_they_are_set)
{
    static const int order[] = {2, 0, 3, 1};
    coil_future *tasks[4];

    for (int i = 0; i < 4; i++)
        futures[i] = new_future();
    for (int i = 0; i < 4; i++) {
        coil_task *task = start(waiter, (void *)(intptr_t)i);

        if (task == NULL)
            return -ENOMEM;
        tasks[i] = coil_task_future(task);
    }
    turns(1);
    for (int i = 0; i < 4; i++) {
        coil_future_set(futures[order[i]], order[i] == 3 ? -ECANCELED : order[i], NULL,
                        NULL);
        trace("%d is done", order[i]);
    }
    coil_wait(tasks, 4, COIL_WAIT_ALL, COIL_NEVER);
    return 0;
}
