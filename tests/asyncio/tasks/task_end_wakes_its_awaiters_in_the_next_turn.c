/* All who await a task go on one turn after its end; who comes later does not wait at
 * all. */
#include "../scenario.h"

static coil_task *task;

static int body(void *future)
{
    int rc = tell("body", coil_await(future));

    return rc < 0 ? rc : 4;
}

static int waiter(void *i)
{
    trace("waiter %d: %s", (int)(intptr_t)i, outcome(coil_task_await(task)));
    return 0;
}

SCENARIO(task_end_wakes_its_awaiters_in_the_next_turn)
{
    coil_future *future = new_future();
    coil_task *waiters[3], *ticks;

    task = start(body, future);
    for (int i = 0; i < 3; i++)
        waiters[i] = start(waiter, (void *)(intptr_t)i);
    if (waiters[2] == NULL)
        return -ENOMEM;
    turns(1);
    ticks = start(ticker, TURNS(3));
    if (ticks == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 0, NULL, NULL);
    coil_task_await(ticks);
    trace("late: %s", outcome(coil_task_await(task)));
    trace("waiters: %s %s %s", state(coil_task_future(waiters[0])),
          state(coil_task_future(waiters[1])), state(coil_task_future(waiters[2])));
    return 0;
}
