/* A deadline is a time of the loop's clock, wherever that stands; one that has passed
 * is due. */
#include "calls.h"

static void at_three(void *unused)
{
    trace("at three");
    at(2, say, "two has passed");
    at(5, say, "at five");
    later(5, stop, unused);
}

LOOP_SCENARIO(call_at_calls_at_a_time_of_the_clock)
{
    at(3, at_three, NULL);
    return run_loop(loop);
}
