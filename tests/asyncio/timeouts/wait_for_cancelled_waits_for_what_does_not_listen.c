/*
 * Cancelling who waits cancels what is waited for; if that does not listen, its result
 * comes when it has ended.
 */
#include "../scenario.h"

static int stubborn(void *arg)
{
    int rc = 0;

    (void)arg;
    while (coil_now() < COIL_SEC(4) && rc == 0) {
        rc = coil_sleep_until(COIL_SEC(4));
        if (rc == -ECANCELED) {
            coil_cancel_caught();
            trace("does not listen");
            rc = 0;
        }
    }
    trace("ends");
    return rc < 0 ? rc : 7;
}

static int waiter(void *inner)
{
    return coil_wait_for(coil_task_future(inner), coil_in(COIL_SEC(8)));
}

SCENARIO(wait_for_cancelled_waits_for_what_does_not_listen)
{
    coil_task *inner = start(stubborn, NULL);
    coil_task *task = start(waiter, inner);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    tell("waiter", coil_task_await(task));
    trace("inner: %s", state(coil_task_future(inner)));
    return 0;
}
