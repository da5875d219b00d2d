/*
 * Those that end in time come; then there is one timeout for each that does not, and
 * they go on.
 */
#include "each.h"

SCENARIO(as_completed_says_when_the_deadline_passed)
{
    static struct work works[] = {{"a", 1, 1}, {"b", 5, 2}, {"c", 6, 3}};
    coil_future *futures[3], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 3))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 3, coil_in(COIL_SEC(3)));
    if (rc == 0)
        do {
            rc = coil_as_completed_next(&each, &next);
            if (rc == 1)
                trace("%c: %s", name_of(futures, next), state(next));
            else if (rc == -ETIMEDOUT)
                trace("timeout");
        } while (rc == 1 || rc == -ETIMEDOUT);
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    if (rc < 0)
        return rc;
    tell("b", coil_await(futures[1]));
    tell("c", coil_await(futures[2]));
    return 0;
}
