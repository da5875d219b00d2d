/* Cancelling the promise of a task that was started as from another thread cancels that
 * task two turns later. */
#include "../scenario.h"

static int body(void *arg)
{
    int rc;

    (void)arg;
    rc = coil_sleep(COIL_SEC(9));
    if (rc == -ECANCELED)
        trace("task is told");
    return rc;
}

SCENARIO(promise_of_a_spawn_cancels_its_task)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(), body, NULL, NULL, &promise);

    if (rc < 0)
        return rc;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_promise_cancel(promise, NULL));
    trace("done: %d", coil_promise_done(promise));
    ticker(TURNS(4));
    trace("again: %d", coil_promise_result(promise) == -ECANCELED);
    coil_promise_release(promise);
    return 0;
}
