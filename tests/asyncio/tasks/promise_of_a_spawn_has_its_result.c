/* A task that is started as from another thread begins two turns later, and its promise
 * gets its result. */
#include "../scenario.h"

static int body(void *arg)
{
    int rc;

    (void)arg;
    trace("begins");
    rc = coil_sleep(COIL_SEC(2));
    trace("ends");
    return rc < 0 ? rc : 7;
}

SCENARIO(promise_of_a_spawn_has_its_result)
{
    coil_promise *promise;
    int rc;

    start(ticker, TURNS(3));
    rc = coil_spawn_threadsafe(coil_loop_current(), body, NULL, NULL, &promise);
    if (rc < 0)
        return rc;
    trace("asked");
    tell("promise", coil_promise_await(promise));
    coil_promise_release(promise);
    return 0;
}
