/* A task that has failed fails everybody who awaits it, then and later, each time the
 * same. */
#include "../scenario.h"

static coil_task *task;

static int body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    return rc < 0 ? rc : -EIO;
}

static int waiter(void *i)
{
    trace("waiter %d: %s", (int)(intptr_t)i, outcome(coil_task_await(task)));
    return 0;
}

SCENARIO(failed_task_is_awaited_again_and_again)
{
    coil_task *last;

    task = start(body, NULL);
    start(waiter, (void *)(intptr_t)0);
    last = start(waiter, (void *)(intptr_t)1);
    if (last == NULL)
        return -ENOMEM;
    for (int i = 0; i < 3; i++)
        trace("awaited: %s", outcome(coil_task_await(task)));
    return coil_task_await(last);
}
