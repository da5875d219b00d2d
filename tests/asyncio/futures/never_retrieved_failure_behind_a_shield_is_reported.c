/* Who is cancelled in a shield asks no more: when what was shielded fails then, it is
 * reported. */
#include "../scenario.h"

static int body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(2));

    (void)arg;
    if (rc < 0)
        return rc;
    trace("fails");
    return -EIO;
}

static int waiter(void *arg)
{
    coil_task *task;
    int rc = coil_spawn(body, arg, NULL, &task);

    if (rc < 0)
        return rc;
    rc = tell("shield", coil_shield(coil_task_future(task)));
    coil_task_release(task);
    return rc;
}

SCENARIO(never_retrieved_failure_behind_a_shield_is_reported)
{
    coil_task *task = start(waiter, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    coil_set_exception_handler(tell_exception, NULL);
    rc = coil_sleep(COIL_SEC(1));
    if (rc < 0)
        return rc;
    coil_task_cancel(task, NULL);
    trace("waiter: %s", outcome(coil_task_await(task)));
    return coil_sleep(COIL_SEC(2));
}
