/* Cancelling who waits, with a deadline or without, cancels the task. */
#include "../scenario.h"

static int sleeper(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    tell("sleep", rc == 0 ? 7 : rc);
    trace("ends");
    return rc == 0 ? 7 : rc;
}

static coil_task *inner;

static int wait_for_it(void *deadline)
{
    return coil_wait_for(coil_task_future(inner), *(int64_t *)deadline);
}

static void cancel_it(void *task)
{
    coil_task_cancel(task, NULL);
}

SCENARIO(wait_for_that_is_cancelled_cancels_the_task)
{
    int64_t deadlines[] = {COIL_NEVER, COIL_SEC(60)};

    for (int i = 0; i < 2; i++) {
        coil_task *waiter;
        int rc;

        inner = start(sleeper, NULL);
        waiter = start(wait_for_it, &deadlines[i]);
        if (waiter == NULL)
            return -ENOMEM;
        rc = coil_call_soon(cancel_it, waiter, NULL);
        if (rc < 0)
            coil_task_cancel(waiter, NULL);
        start(ticker, TURNS(4));
        tell("waiter", coil_task_await(waiter));
        trace("task: %s", state(coil_task_future(inner)));
        turns(4);
    }
    return 0;
}
