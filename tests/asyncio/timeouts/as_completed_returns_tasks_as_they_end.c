/*
 * Tasks come in the order in which they end, each as it does; one that has failed,
 * too.
 */
#include "each.h"

SCENARIO(as_completed_returns_tasks_as_they_end)
{
    static struct work works[] = {{"a", 3, 1}, {"b", 1, 2}, {"c", 1, 3}, {"d", 0, 4}};
    coil_future *futures[4], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 4))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 4, COIL_NEVER);
    while (rc >= 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("%c: %s", name_of(futures, next), state(next));
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    return rc;
}
