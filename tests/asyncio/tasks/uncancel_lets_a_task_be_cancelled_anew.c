/* A task that catches its cancellation and takes it back sleeps on, until the next one.
 */
#include "../scenario.h"

static int body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    if (rc != -ECANCELED)
        return rc;
    coil_cancel_caught();
    trace("caught; %d left", coil_uncancel());
    return coil_sleep(COIL_SEC(10));
}

static void look(coil_task *task)
{
    trace("counted %d, %s", coil_task_cancelling(task), state(coil_task_future(task)));
}

SCENARIO(uncancel_lets_a_task_be_cancelled_anew)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    look(task);
    coil_sleep(COIL_SEC(1));
    look(task);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    look(task);
    trace("awaited: %s", outcome(coil_task_await(task)));
    look(task);
    return 0;
}
