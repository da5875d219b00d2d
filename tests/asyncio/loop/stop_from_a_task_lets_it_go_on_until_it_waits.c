/* A task that stops its loop goes on until it waits, and after that when the loop runs
 * again. */
#include "calls.h"

static int body(void *loop)
{
    int rc;

    coil_loop_stop(loop);
    trace("still runs");
    rc = coil_yield();
    trace("runs again");
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 5;
}

LOOP_SCENARIO(stop_from_a_task_lets_it_go_on_until_it_waits)
{
    coil_task *task = start(body, loop);

    if (task == NULL)
        return -ENOMEM;
    if (coil_run_until_complete(coil_task_future(task)) == -EDEADLK)
        trace("stopped: %s", state(coil_task_future(task)));
    trace("ends: %d", coil_run_until_complete(coil_task_future(task)));
    return 0;
}
