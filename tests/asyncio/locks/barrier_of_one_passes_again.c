/*
 * A barrier can be passed again as soon as the round before has left: each time with
 * index 0 where it is for one.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(1);

static int wait_for(void *barrier_)
{
    return coil_barrier_wait(barrier_);
}

SCENARIO(barrier_of_one_passes_again)
{
    for (int i = 0; i < 2; i++) {
        coil_task *task = start(wait_for, &barrier);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        trace("%c: %s, %zu wait", "ab"[i], state(coil_task_future(task)),
              coil_barrier_waiting(&barrier));
    }
    trace("we: %s", outcome(coil_barrier_wait(&barrier)));
    trace("we again: %s", outcome(coil_barrier_wait(&barrier)));
    return 0;
}
