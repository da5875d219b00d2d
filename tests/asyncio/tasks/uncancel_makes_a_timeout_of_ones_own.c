/* A timer cancels a block of code; uncancel after it tells a timeout from a cancellation.
 */
#include "../scenario.h"

struct timed {
    coil_task *task;
    bool fired;
};

static void fire(void *arg)
{
    struct timed *t = arg;

    t->fired = true;
    trace("the timer cancels");
    coil_task_cancel(t->task, NULL);
}

static int timed(void *arg)
{
    struct timed t = {.task = coil_task_current()};
    const int64_t *seconds = arg;
    coil_handle *timer;
    int rc = coil_call_later(seconds[1], fire, &t, &timer);

    if (rc < 0)
        return rc;
    rc = coil_sleep(seconds[0]);
    coil_handle_cancel(timer);
    coil_handle_release(timer);
    if (t.fired && coil_uncancel() == 0 && rc == -ECANCELED) {
        coil_cancel_caught();
        rc = -ETIMEDOUT;
    }
    trace("the block: %s, counted %d", outcome(rc), coil_task_cancelling(t.task));
    trace("after it: %s", outcome(coil_yield()));
    return 0;
}

SCENARIO(uncancel_makes_a_timeout_of_ones_own)
{
    static const int64_t seconds[2][2] = {{COIL_SEC(10), COIL_SEC(1)},
                                          {COIL_SEC(1), COIL_SEC(10)}};

    for (int i = 0; i < 2; i++) {
        coil_task *task = start(timed, (void *)seconds[i]);

        if (task == NULL)
            return -ENOMEM;
        trace("awaited: %s", outcome(coil_task_await(task)));
    }
    return 0;
}
