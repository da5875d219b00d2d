/* To wait until all have ended is not to ask what they came to. */
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

SCENARIO(never_retrieved_failures_after_a_wait_are_reported)
{
    struct work works[] = {{1, 1}, {2, 1}};
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
        rc = coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("waited");
    rc = coil_sleep(COIL_SEC(3));
    for (int i = 0; i < 2; i++) {
        coil_task_release(tasks[i]);
        trace("let go of one");
    }
    return rc;
}
