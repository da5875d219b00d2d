/* What is called soon when the future is set is called in the turn that ends the run;
 * what that calls soon, in the next run. */
#include "calls.h"

static coil_future *future;

static void inner(void *unused)
{
    (void)unused;
    trace("in the last turn");
    soon(say, "in another run");
}

static void set_future(void *unused)
{
    coil_future_set(future, 1, NULL, NULL);
    soon(inner, unused);
    trace("set");
}

LOOP_SCENARIO(run_until_complete_leaves_ready_what_its_last_turn_made)
{
    future = new_future();
    if (future == NULL || later(2, set_future, NULL) == NULL)
        return -ENOMEM;
    coil_run_until_complete(future);
    trace("complete");
    if (soon(stop, NULL) == NULL)
        return -ENOMEM;
    return run_loop(loop);
}
