/* Each run has a new loop, whose clock begins anew, and there is none before, between and
 * after. */
#include "runners.h"

static int has_loop(void)
{
    return coil_loop_current() != NULL;
}

static int main_task(void *arg)
{
    int rc;

    (void)arg;
    trace("main begins, loop: %d", has_loop());
    rc = coil_sleep(COIL_SEC(2));
    trace("main ends");
    return rc;
}

PLAIN_SCENARIO(run_makes_a_loop_of_its_own_each_time)
{
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        trace("loop: %d", has_loop());
        rc = run(main_task, NULL);
    }
    trace("loop: %d", has_loop());
    return rc;
}
