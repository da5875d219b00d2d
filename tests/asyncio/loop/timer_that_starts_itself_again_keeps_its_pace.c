/* A callback that calls itself later is called at even distances, others between them. */
#include "calls.h"

static int left = 3;

static void tick(void *unused)
{
    trace("tick");
    if (--left > 0)
        later(2, tick, unused);
    else
        soon(stop, unused);
}

LOOP_SCENARIO(timer_that_starts_itself_again_keeps_its_pace)
{
    later(2, tick, NULL);
    later(3, say, "between");
    later(4, say, "with the second");
    return run_loop(loop);
}
