/* A loop that is stopped before it runs takes one turn: what is ready, and no more. */
#include "calls.h"

static void soon_again(void *text)
{
    soon(say, text);
}

LOOP_SCENARIO(loop_stopped_before_it_runs_takes_one_turn)
{
    int rc;

    soon(soon_again, "in the second turn");
    soon(say, "in the first turn");
    later(1, say, "never printed");
    coil_loop_stop(loop);
    rc = run_loop(loop);
    trace("returned");
    if (rc < 0)
        return rc;
    coil_loop_stop(loop);
    rc = run_loop(loop);
    trace("returned again, at %d", (int)(coil_now() / COIL_SEC(1)));
    return rc;
}
