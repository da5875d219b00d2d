/* The failure of a task that is started as from another thread is that of its promise. */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    coil_sleep(COIL_SEC(1));
    trace("fails");
    return -EIO;
}

SCENARIO(promise_of_a_spawn_has_its_failure)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(), body, NULL, NULL, &promise);

    if (rc < 0)
        return rc;
    trace("done: %d", coil_promise_done(promise));
    tell("promise", coil_promise_await(promise));
    trace("done: %d", coil_promise_done(promise));
    coil_promise_release(promise);
    return 0;
}
