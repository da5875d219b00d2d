/* Stopping lets the turn end; what became ready in it waits for the loop to run again. */
#include "calls.h"

static void stop_and_go_on(void *loop)
{
    trace("stops, twice");
    coil_loop_stop(loop);
    coil_loop_stop(loop);
    soon(say, "in the next run");
    soon(stop, NULL);
}

LOOP_SCENARIO(loop_stopped_finishes_its_turn)
{
    int rc;

    soon(stop_and_go_on, loop);
    soon(say, "still in this turn");
    rc = run_loop(loop);
    trace("returned");
    if (rc == 0)
        rc = run_loop(loop);
    trace("returned again");
    return rc;
}
