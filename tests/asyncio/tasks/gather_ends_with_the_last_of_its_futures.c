/* gather returns two turns after the last result, in the order of the arguments. */
#include "../scenario.h"

static coil_future *futures[3];

static int body(void *all)
{
    int rcs[3], rc = coil_gather(futures, 3, all != NULL ? COIL_GATHER_ALL : 0, rcs);

    if (rc == 0)
        trace("gathered %d %d %d", rcs[0], rcs[1], rcs[2]);
    return rc;
}

SCENARIO(gather_ends_with_the_last_of_its_futures)
{
    static int all;

    for (int round = 0; round < 2; round++) {
        coil_future *both[2];
        coil_task *task, *ticks;

        for (int i = 0; i < 3; i++)
            futures[i] = new_future();
        task = start(body, round == 0 ? NULL : &all);
        if (task == NULL)
            return -ENOMEM;
        turns(1);
        coil_future_set(futures[1], 1, NULL, NULL);
        coil_future_set(futures[0], 2, NULL, NULL);
        turns(3);
        trace("two are set: %s", state(coil_task_future(task)));
        ticks = start(ticker, TURNS(3));
        coil_future_set(futures[2], 3, NULL, NULL);
        trace("all are set: %s", state(coil_task_future(task)));
        if (ticks == NULL)
            return -ENOMEM;
        both[0] = coil_task_future(task);
        both[1] = coil_task_future(ticks);
        coil_wait(both, 2, COIL_WAIT_ALL, COIL_NEVER);
    }
    return 0;
}
