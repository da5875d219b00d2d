/* Eager children of a group that wait first and fail then cancel the others as any child
 * does. */
#include "../scenario.h"

static int child(void *arg)
{
    int seconds = *(int *)arg;

    trace("child of %d s begins", seconds);
    if (coil_sleep(COIL_SEC(seconds)) == -ECANCELED) {
        trace("child of %d s is cancelled", seconds);
        return -ECANCELED;
    }
    return -EIO;
}

SCENARIO(eager_children_of_a_group_fail_later)
{
    static const coil_spawn_opts eager = {.eager = true};
    int one = 1, two = 2, rc;
    coil_group group;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, child, &one, &eager, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, child, &two, &eager, NULL);
    if (rc == 0) {
        trace("body waits");
        rc = coil_sleep(COIL_SEC(5));
    }
    coil_group_exit(&group, rc);
    trace("failures: %zu", coil_group_error_count(&group));
    return 0;
}
