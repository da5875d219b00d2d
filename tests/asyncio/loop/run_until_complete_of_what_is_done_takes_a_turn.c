/* A future that is done lets the loop take one turn: what was ready before is called. */
#include "calls.h"

static void soon_again(void *text)
{
    soon(say, text);
}

LOOP_SCENARIO(run_until_complete_of_what_is_done_takes_a_turn)
{
    coil_future *future = new_future();

    (void)loop;
    if (future == NULL)
        return -ENOMEM;
    coil_future_set(future, 7, NULL, NULL);
    soon(soon_again, "in the next run");
    soon(say, "in the first run");
    trace("first: %d", coil_run_until_complete(future));
    trace("second: %d", coil_run_until_complete(future));
    return 0;
}
