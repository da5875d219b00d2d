/* Of the last one a wait for the first failure does not ask: it is over anyway. */
#include "../scenario.h"

struct work {
    int seconds, fails;
};

static int body(void *arg)
{
    const struct work *work = arg;
    int rc = coil_sleep(COIL_SEC(work->seconds));

    if (rc < 0)
        return rc;
    trace("%d ends", work->seconds);
    return work->fails ? -EIO : 0;
}

SCENARIO(never_retrieved_failure_of_the_last_waited_for_is_reported)
{
    struct work works[] = {{1, 0}, {2, 1}};
    coil_future *futures[2];
    coil_task *tasks[2] = {NULL};
    int rc = 0;

    coil_set_exception_handler(tell_exception, NULL);
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = coil_spawn(body, &works[i], NULL, &tasks[i]);
        if (rc == 0)
            futures[i] = coil_task_future(tasks[i]);
    }
    if (rc == 0)
        rc = coil_wait(futures, 2, COIL_WAIT_FIRST_EXCEPTION, COIL_NEVER);
    trace("waited");
    rc = coil_sleep(COIL_SEC(3));
    for (int i = 0; i < 2; i++) {
        coil_task_release(tasks[i]);
        trace("let go of one");
    }
    return rc;
}
