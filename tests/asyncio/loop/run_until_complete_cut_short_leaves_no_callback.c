/* Stopped while it ran until one task was done, the loop is not stopped by that task's
 * end later. */
#include "calls.h"

static int sleep_for(void *seconds)
{
    int rc = coil_sleep(COIL_SEC((intptr_t)seconds));

    trace("slept %d", (int)(intptr_t)seconds);
    return rc;
}

LOOP_SCENARIO(run_until_complete_cut_short_leaves_no_callback)
{
    coil_task *one = start(sleep_for, (void *)(intptr_t)1);
    coil_task *two = start(sleep_for, (void *)(intptr_t)2);

    (void)loop;
    if (two == NULL || soon(stop, NULL) == NULL)
        return -ENOMEM;
    if (coil_run_until_complete(coil_task_future(one)) == -EDEADLK)
        trace("cut short: %s", state(coil_task_future(one)));
    coil_run_until_complete(coil_task_future(two));
    trace("the first: %s", state(coil_task_future(one)));
    return 0;
}
