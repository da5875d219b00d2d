/*
 * A future that is set, or was set before, is known two turns later; one that is known
 * takes none.
 */
#include "each.h"

static void set_to_two(void *future)
{
    coil_future_set(future, 2, NULL, NULL);
}

SCENARIO(as_completed_takes_two_turns_to_know)
{
    coil_future *futures[] = {new_future(), new_future()}, *next;
    coil_as_completed each;
    int rc;

    if (futures[1] == NULL)
        return -ENOMEM;
    coil_future_set(futures[0], 1, NULL, NULL);
    rc = coil_as_completed_init(&each, futures, 2, COIL_NEVER);
    start(ticker, TURNS(6));
    if (rc == 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("early: %s", state(next));
    if (rc > 0)
        rc = coil_call_soon(set_to_two, futures[1], NULL);
    if (rc == 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("late: %s", state(next));
    coil_as_completed_finish(&each);
    return rc < 0 ? rc : 0;
}
