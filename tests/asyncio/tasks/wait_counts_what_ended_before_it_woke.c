/* What ends between the first end and the turn in which wait() goes on is done, too. */
#include "../scenario.h"

static int body(void *n)
{
    return turns((int)(intptr_t)n);
}

SCENARIO(wait_counts_what_ended_before_it_woke)
{
    coil_task *one = start(body, TURNS(1)), *two = start(body, TURNS(2));
    coil_task *four = start(body, TURNS(4)), *ticks = start(ticker, TURNS(5));
    coil_future *futures[3];
    int done;

    if (ticks == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(four);
    futures[1] = coil_task_future(two);
    futures[2] = coil_task_future(one);
    done = coil_wait(futures, 3, COIL_WAIT_FIRST, COIL_NEVER);
    trace("done %d: %s %s %s", done, state(futures[2]), state(futures[1]),
          state(futures[0]));
    return coil_task_await(ticks);
}
