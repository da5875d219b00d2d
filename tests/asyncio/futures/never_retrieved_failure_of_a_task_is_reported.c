/* A task that failed and was never asked is reported as its last reference goes: at its
 * end, if nobody holds it. */
#include "../scenario.h"

static int body(void *name)
{
    int rc = coil_sleep(COIL_SEC(1));

    if (rc < 0)
        return rc;
    trace("%s fails", (const char *)name);
    return -EIO;
}

SCENARIO(never_retrieved_failure_of_a_task_is_reported)
{
    coil_task *held;
    int rc = coil_spawn(body, "held", NULL, &held);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(tell_exception, NULL);
    rc = coil_spawn(body, "loose", NULL, NULL);
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(2));
    trace("done: %d", coil_future_done(coil_task_future(held)));
    coil_task_release(held);
    trace("let go");
    return rc;
}
