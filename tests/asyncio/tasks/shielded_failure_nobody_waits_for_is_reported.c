/* A waiter leaves a shield; the future that fails after that is reported, if a turn has
 * passed. */
#include "../scenario.h"

static int body(void *future)
{
    return tell("told", coil_shield(future));
}

static int try_steps(const char *how, coil_future *future)
{
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    if (how[0] == 'c')
        coil_task_cancel(task, NULL);
    if (strstr(how, "turn") != NULL)
        turns(2);
    coil_future_set(future, -EIO, NULL, NULL);
    if (how[0] == 'f')
        coil_task_cancel(task, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return turns(1);
}

SCENARIO(shielded_failure_nobody_waits_for_is_reported)
{
    static const char *const hows[] = {"cancel, a turn, fail", "cancel, fail",
                                       "fail, cancel"};

    coil_set_exception_handler(tell_exception, NULL);
    for (int i = 0; i < 3; i++) {
        coil_future *future;
        int rc;

        trace("%s", hows[i]);
        rc = coil_future_create(&future);
        if (rc < 0)
            return rc;
        rc = try_steps(hows[i], future);
        coil_future_release(future);
        if (rc < 0)
            return rc;
    }
    return 0;
}
