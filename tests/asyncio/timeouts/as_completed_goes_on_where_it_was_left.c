/*
 * A loop that is left may be taken up again: what has come meanwhile comes without a
 * turn.
 */
#include "each.h"

SCENARIO(as_completed_goes_on_where_it_was_left)
{
    static struct work works[] = {{"a", 3, 1}, {"b", 1, 2}, {"c", 2, 3}};
    coil_future *futures[3], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 3))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 3, COIL_NEVER);
    if (rc == 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("first: %s", state(next));
    tell("sleep", coil_sleep(COIL_SEC(5)));
    start(ticker, TURNS(2));
    while (rc >= 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("next: %s", state(next));
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    return rc;
}
