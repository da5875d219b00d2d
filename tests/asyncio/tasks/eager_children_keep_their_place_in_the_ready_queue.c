/* An eager child that yields goes behind what was ready by then, before what comes later.
 */
#include "../scenario.h"

static int body(void *name)
{
    int rc;

    trace("%s begins", (char *)name);
    rc = coil_yield();
    trace("%s goes on", (char *)name);
    return rc;
}

SCENARIO(eager_children_keep_their_place_in_the_ready_queue)
{
    static const coil_spawn_opts eager = {.eager = true};
    coil_task *tasks[4] = {start(body, "a"), start_with(body, "b", &eager),
                           start(body, "c"), start_with(body, "d", &eager)};
    coil_future *futures[4];

    trace("spawned");
    for (int i = 0; i < 4; i++) {
        if (tasks[i] == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(tasks[i]);
    }
    return coil_gather(futures, 4, 0, NULL) < 0 ? -EPROTO : (trace("gathered"), 0);
}
