/* A task that is started and forgotten works on, as long as something will wake it. */
#include "../scenario.h"

static int forgotten(void *future)
{
    for (int i = 0; i < 3; i++) {
        int rc = coil_sleep(COIL_SEC(1));

        if (rc < 0)
            return coil_future_set(future, rc, NULL, NULL);
        trace("step %d", i);
    }
    return coil_future_set(future, 3, NULL, NULL);
}

SCENARIO(task_nobody_holds_runs_to_its_end)
{
    coil_future *future = new_future();
    int rc = future != NULL ? coil_spawn(forgotten, future, NULL, NULL) : -ENOMEM;

    if (rc < 0)
        return rc;
    trace("started");
    trace("future: %s", outcome(coil_await(future)));
    return 0;
}
