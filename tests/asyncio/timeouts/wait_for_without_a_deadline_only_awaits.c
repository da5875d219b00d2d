/* Without a deadline it awaits, and that is all. */
#include "../scenario.h"

static int sleeper(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    tell("sleep", rc == 0 ? 7 : rc);
    trace("ends");
    return rc == 0 ? 7 : rc;
}

SCENARIO(wait_for_without_a_deadline_only_awaits)
{
    coil_task *task = start(sleeper, NULL);

    if (task == NULL)
        return -ENOMEM;
    tell("wait_for", coil_wait_for(coil_task_future(task), COIL_NEVER));
    return 0;
}
