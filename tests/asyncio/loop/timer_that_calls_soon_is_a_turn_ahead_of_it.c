/* What a timer's callback calls soon comes after all that was due with the timer. */
#include "calls.h"

static void due(void *unused)
{
    trace("due");
    soon(say, "called soon");
    soon(stop, unused);
}

LOOP_SCENARIO(timer_that_calls_soon_is_a_turn_ahead_of_it)
{
    later(2, due, NULL);
    later(2, say, "due as well");
    return run_loop(loop);
}
