/* When the last one has come there is no deadline any more. */
#include "each.h"

SCENARIO(as_completed_forgets_a_deadline_that_is_not_reached)
{
    static struct work works[] = {{"a", 1, 1}};
    coil_future *futures[1], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 1))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 1, coil_in(COIL_SEC(5)));
    while (rc >= 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("a: %s", state(next));
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    tell("sleep", coil_sleep(COIL_SEC(10)));
    return rc;
}
