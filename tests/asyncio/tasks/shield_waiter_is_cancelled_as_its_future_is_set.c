/* A future is set, and who waits behind a shield is cancelled in the same turn:
 * cancelled. */
#include "../scenario.h"

static coil_future *future;

static int body(void *name)
{
    return tell(name, coil_shield(future));
}

SCENARIO(shield_waiter_is_cancelled_as_its_future_is_set)
{
    static char names[3][9] = {"waiter 0", "waiter 1", "waiter 2"};
    coil_task *tasks[3], *ticks;
    coil_future *all[4];

    future = new_future();
    for (int i = 0; i < 3; i++)
        tasks[i] = start(body, names[i]);
    ticks = start(ticker, TURNS(4));
    if (ticks == NULL)
        return -ENOMEM;
    for (int i = 0; i < 3; i++)
        all[i] = coil_task_future(tasks[i]);
    all[3] = coil_task_future(ticks);
    turns(1);
    coil_task_cancel(tasks[0], NULL);
    coil_future_set(future, 1, NULL, NULL);
    coil_task_cancel(tasks[1], NULL);
    trace("set between two cancels");
    coil_wait(all, 4, COIL_WAIT_ALL, COIL_NEVER);
    trace("tasks %s %s %s", state(all[0]), state(all[1]), state(all[2]));
    return 0;
}
