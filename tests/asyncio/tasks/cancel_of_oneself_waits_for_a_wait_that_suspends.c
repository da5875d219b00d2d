/* A request for oneself lets pass what need not wait: done futures, gathers of them. */
#include "../scenario.h"

static int body(void *done)
{
    coil_future *twice[] = {done, done};
    int rcs[2], rc;

    coil_task_cancel(coil_task_current(), NULL);
    tell("done future", coil_await(done));
    tell("shield", coil_shield(done));
    rc = coil_gather(twice, 2, 0, rcs);
    if (rc < 0)
        return rc;
    trace("gathered %d", rcs[1]);
    return tell("yield", coil_yield());
}

SCENARIO(cancel_of_oneself_waits_for_a_wait_that_suspends)
{
    coil_future *done = new_future();
    coil_task *task = start(body, done);

    if (task == NULL)
        return -ENOMEM;
    coil_future_set(done, 6, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}
