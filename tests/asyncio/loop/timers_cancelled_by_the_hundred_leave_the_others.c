/* Most of two hundred timers are cancelled; those that are left are called at their
 * times. */
#include "calls.h"

static void say_number(void *number)
{
    trace("timer %d", (int)(intptr_t)number);
}

LOOP_SCENARIO(timers_cancelled_by_the_hundred_leave_the_others)
{
    int cancelled = 0, rc;

    for (int i = 0; i < 200; i++) {
        coil_handle *timer = later(1 + i * 37 % 200, say_number, (void *)(intptr_t)i);

        if (i % 40 != 7)
            cancel_handle(timer);
        cancelled += timer != NULL && coil_handle_cancelled(timer);
    }
    later(300, stop, NULL);
    trace("cancelled: %d", cancelled);
    rc = run_loop(loop);
    trace("stopped at %d", (int)(coil_now() / COIL_SEC(1)));
    return rc;
}
