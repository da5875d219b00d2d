/* A loop that is stopped leaves its task where it stands; running it again goes on there.
 */
#include "../scenario.h"

static int count;

static int body(void *loop)
{
    while (count < 5) {
        int rc = coil_sleep(COIL_SEC(1));

        if (rc < 0)
            return rc;
        trace("counts %d", ++count);
        if (count == 2)
            coil_loop_stop(loop);
    }
    return count;
}

PLAIN_SCENARIO(stopped_loop_leaves_its_task_pending)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_loop *loop;
    coil_task *task;
    int rc = coil_loop_create(&opts, &loop);

    if (rc < 0)
        return rc;
    task = start(body, loop);
    if (task != NULL) {
        coil_future *future = coil_task_future(task);

        if (coil_run_until_complete(future) == -EDEADLK)
            trace("stopped at %d: %s", count, state(future));
        trace("again: %d", coil_run_until_complete(future));
        trace("task: %s", state(future));
    }
    coil_loop_close(loop);
    return task != NULL ? 0 : -ENOMEM;
}
