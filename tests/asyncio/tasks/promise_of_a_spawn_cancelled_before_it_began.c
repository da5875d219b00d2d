/* A promise that is cancelled before its task was started: the task runs up to its first
 * wait all the same. */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    trace("begins");
    return tell("waits", coil_sleep(COIL_SEC(9)));
}

SCENARIO(promise_of_a_spawn_cancelled_before_it_began)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(), body, NULL, NULL, &promise);

    if (rc < 0)
        return rc;
    trace("cancel: %d", coil_promise_cancel(promise, NULL));
    ticker(TURNS(5));
    trace("cancelled: %d", coil_promise_result(promise) == -ECANCELED);
    coil_promise_release(promise);
    return 0;
}
