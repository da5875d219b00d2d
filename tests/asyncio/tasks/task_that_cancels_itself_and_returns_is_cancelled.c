/* A task that returns with its own request not yet delivered ends cancelled, result or
 * not. */
#include "../scenario.h"

static int body(void *fails)
{
    trace("cancel: %d", coil_task_cancel(coil_task_current(), NULL));
    return fails != NULL ? -EIO : 12;
}

SCENARIO(task_that_cancels_itself_and_returns_is_cancelled)
{
    static int fails;

    for (int i = 0; i < 2; i++) {
        coil_task *task = start(body, i == 0 ? NULL : &fails);

        if (task == NULL)
            return -ENOMEM;
        trace("awaited: %s", outcome(coil_task_await(task)));
        trace("counted: %d", coil_task_cancelling(task));
        trace("cancel: %d", coil_task_cancel(task, NULL));
    }
    return 0;
}
