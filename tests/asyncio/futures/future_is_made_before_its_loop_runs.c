/* A future may be made and given its callbacks while the loop does not run yet. */
#include "../scenario.h"

static void callback(coil_future *future, void *arg)
{
    (void)arg;
    trace("callback: %s", state(future));
}

static void set(void *future)
{
    coil_future_set(future, 5, NULL, NULL);
}

static int prepare(coil_future *future)
{
    int rc = future != NULL ? coil_future_add_callback(future, callback, NULL) : -ENOMEM;

    if (rc < 0)
        return rc;
    rc = coil_call_later(COIL_SEC(2), set, future, NULL);
    if (rc < 0)
        coil_future_remove_callback(future, callback, NULL);
    return rc;
}

PLAIN_SCENARIO(future_is_made_before_its_loop_runs)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_future *future;
    coil_loop *loop;
    int rc = coil_loop_create(&opts, &loop);

    if (rc < 0)
        return rc;
    future = new_future();
    rc = prepare(future);
    if (rc == 0) {
        trace("before: %s", state(future));
        trace("result: %d", coil_run_until_complete(future));
        trace("again: %d", coil_run_until_complete(future));
    }
    coil_loop_close(loop);
    if (rc == 0)
        trace("after: %s", state(future));
    return rc;
}
