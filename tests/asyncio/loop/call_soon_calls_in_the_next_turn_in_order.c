/* Callbacks are called in the order they were asked for; what they ask for comes a
 * turn later. */
#include "calls.h"

static void first(void *unused)
{
    (void)unused;
    trace("first");
    soon(say, "from first");
}

static void second(void *unused)
{
    trace("second");
    soon(stop, unused);
    soon(say, "from second");
}

LOOP_SCENARIO(call_soon_calls_in_the_next_turn_in_order)
{
    soon(first, NULL);
    soon(second, NULL);
    soon(say, "third");
    trace("nothing yet");
    return run_loop(loop);
}
