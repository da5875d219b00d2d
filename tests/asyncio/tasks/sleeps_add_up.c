/* Two sleeps take the time of both, and the loop's clock moves by no more. */
#include "../scenario.h"

static int body(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = tell("slept", coil_sleep(COIL_SEC(2)));
    return rc < 0 ? rc : 7;
}

SCENARIO(sleeps_add_up)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(3));
    trace("state: %s", state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
