/* A timer without a delay is due in the next turn, behind what is ready by then. */
#include "calls.h"

LOOP_SCENARIO(timer_of_no_delay_comes_after_what_is_ready)
{
    later(0, say, "a timer");
    soon(say, "soon");
    at(0, stop, NULL);
    soon(say, "soon too");
    return run_loop(loop);
}
