/* Waiting for the promise of a spawn with a limit: when that is over the task is
 * cancelled too. */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    return tell("task", coil_sleep(COIL_SEC(9)));
}

static int wait_two_seconds(coil_promise *promise)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    if (rc < 0)
        return rc;
    return coil_scope_exit(&scope, coil_promise_await(promise));
}

SCENARIO(promise_of_a_spawn_within_a_time_limit)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(), body, NULL, NULL, &promise);

    if (rc < 0)
        return rc;
    if (wait_two_seconds(promise) == -ETIMEDOUT)
        trace("timed out, cancelled: %d", coil_promise_result(promise) == -ECANCELED);
    turns(3);
    trace("at the end");
    coil_promise_release(promise);
    return 0;
}
