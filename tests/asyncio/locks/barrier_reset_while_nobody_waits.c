/* Resetting a barrier at which nobody waits does nothing, and lets no turn pass. */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(2);

static int wait_for(void *barrier_)
{
    return coil_barrier_wait(barrier_);
}

SCENARIO(barrier_reset_while_nobody_waits)
{
    coil_task *task;

    if (start(ticker, TURNS(2)) == NULL)
        return -ENOMEM;
    trace("reset: %s", outcome(coil_barrier_reset(&barrier)));
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    task = start(wait_for, &barrier);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("we: %s", outcome(coil_barrier_wait(&barrier)));
    trace("the other: %s", outcome(coil_task_await(task)));
    return 0;
}
