/*
 * A task that waits at a barrier for two seconds only leaves its place when they are
 * over; the barrier is not broken by that.
 */
#include "../scenario.h"

static coil_barrier barrier = COIL_BARRIER_INIT(2);

static int impatient(void *arg)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    (void)arg;
    return rc < 0 ? rc : coil_scope_exit(&scope, coil_barrier_wait(&barrier));
}

static int wait_a_while(void)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(9)));

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_barrier_wait(&barrier));
}

SCENARIO(barrier_wait_times_out_and_breaks_nobody)
{
    coil_task *task;

    trace("alone: %s", outcome(impatient(NULL)));
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier),
          coil_barrier_broken(&barrier));
    task = start(impatient, NULL);
    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("we: %s", outcome(wait_a_while()));
    trace("the other: %s", outcome(coil_task_await(task)));
    return 0;
}
