/* What fails after its gather has is not reported, at whatever moment it does. */
#include "../scenario.h"

static int body(void *futures)
{
    return tell("gather", coil_gather(futures, 2, 0, NULL));
}

static int fail_both(coil_future *futures[2], int delay)
{
    coil_task *task = start(body, futures);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(futures[0], -EIO, NULL, NULL);
    turns(delay);
    coil_future_set(futures[1], -ENOENT, NULL, NULL);
    trace("both have failed: %s", state(coil_task_future(task)));
    turns(4);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

SCENARIO(gather_takes_note_of_failures_that_come_too_late)
{
    coil_set_exception_handler(tell_exception, NULL);
    for (int delay = 0; delay < 4; delay++) {
        coil_future *futures[2] = {NULL, NULL};
        int rc = coil_future_create(&futures[0]);

        trace("%d turns later", delay);
        if (rc == 0)
            rc = coil_future_create(&futures[1]);
        if (rc == 0)
            rc = fail_both(futures, delay);
        coil_future_release(futures[0]);
        coil_future_release(futures[1]);
        if (rc < 0)
            return rc;
    }
    return 0;
}
