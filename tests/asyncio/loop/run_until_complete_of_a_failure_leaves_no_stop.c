/* A task that fails at once ends the run; the next run is not stopped by what is left
 * of it. */
#include "calls.h"

static int fail(void *unused)
{
    (void)unused;
    return -EIO;
}

static void last(void *unused)
{
    trace("reached");
    stop(unused);
}

static void call_last(void *unused)
{
    soon(last, unused);
}

LOOP_SCENARIO(run_until_complete_of_a_failure_leaves_no_stop)
{
    coil_task *task = start(fail, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("run: %s", outcome(coil_run_until_complete(coil_task_future(task))));
    if (soon(call_last, NULL) == NULL)
        return -ENOMEM;
    return run_loop(loop);
}
