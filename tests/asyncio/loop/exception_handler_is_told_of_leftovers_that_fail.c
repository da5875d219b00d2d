/* What the main task leaves behind is cancelled; what fails then is reported when all has
 * ended, in the order of its making, even if somebody asks for it. */
#include "../scenario.h"

static void handler(const coil_exception *exception, void *arg)
{
    (void)arg;
    trace("%s: %s", coil_task_name(exception->task), outcome(exception->rc));
}

static int leftover(void *seconds)
{
    int rc = coil_sleep(COIL_SEC(9));

    coil_cancel_caught();
    if (rc == -ECANCELED)
        rc = coil_sleep(COIL_SEC((intptr_t)seconds));
    trace("%d fails", (int)(intptr_t)seconds);
    return -EIO;
}

static int asks(void *task)
{
    coil_sleep(COIL_SEC(9));
    coil_cancel_caught();
    return tell("asked", coil_task_await(task));
}

SCENARIO(exception_handler_is_told_of_leftovers_that_fail)
{
    coil_task *slow;
    int rc = coil_spawn(leftover, (void *)2, &(coil_spawn_opts){.name = "slow"}, &slow);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(handler, NULL);
    rc = coil_spawn(leftover, (void *)1, &(coil_spawn_opts){.name = "swift"}, NULL);
    if (rc == 0)
        rc = coil_spawn(asks, slow, &(coil_spawn_opts){.name = "task-asks"}, NULL);
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(1));
    trace("the main task ends");
    coil_task_release(slow);
    return rc;
}
