/* Two asked the task to end; one request that is taken back leaves the other's count. */
#include "../scenario.h"

static int body(void *arg)
{
    coil_task *task = coil_task_current();
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    if (rc == -ECANCELED) {
        coil_cancel_caught();
        trace("caught, counted %d", coil_task_cancelling(task));
        trace("%d left", coil_uncancel());
    }
    rc = tell("sleeps on", coil_sleep(COIL_SEC(1)));
    trace("counted %d", coil_task_cancelling(task));
    return rc < 0 ? rc : 2;
}

SCENARIO(uncancel_takes_back_one_of_two_requests)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    for (int i = 0; i < 2; i++)
        trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("counted %d", coil_task_cancelling(task));
    return 0;
}
