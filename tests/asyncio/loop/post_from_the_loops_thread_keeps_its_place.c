/* What the loop's own thread posts is called in the order in which all of it was asked
 * for. */
#include "calls.h"

static void post(coil_callback fn, void *arg)
{
    if (coil_post(coil_loop_current(), fn, arg) < 0)
        stop(NULL);
}

static void ask(void *unused)
{
    post(say, "posted");
    soon(say, "called soon");
    post(say, "posted again");
    soon(say, "called soon again");
    post(stop, unused);
}

LOOP_SCENARIO(post_from_the_loops_thread_keeps_its_place)
{
    post(ask, NULL);
    return run_loop(loop);
}
