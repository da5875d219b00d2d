/* wait() for ten tasks that return at once needs as many turns as for one. */
#include "../scenario.h"

static int body(void *value)
{
    return (int)(intptr_t)value;
}

SCENARIO(wait_takes_ten_tasks)
{
    coil_future *futures[10];
    coil_task *ticks;
    int done, sum = 0;

    for (int i = 0; i < 10; i++) {
        coil_task *task = start(body, (void *)(intptr_t)i);

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    ticks = start(ticker, TURNS(4));
    if (ticks == NULL)
        return -ENOMEM;
    done = coil_wait(futures, 10, COIL_WAIT_ALL, COIL_NEVER);
    trace("done %d, pending %d", done, 10 - done);
    for (int i = 0; i < 10; i++)
        sum += coil_future_result(futures[i]);
    trace("sum %d", sum);
    return coil_task_await(ticks);
}
