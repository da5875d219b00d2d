/* Which failure came first does not matter: what is let go of first is reported first. */
#include "../scenario.h"

static int body(void *i)
{
    static const int rcs[] = {-EIO, -EPROTO, -EBADF};
    int rc = coil_sleep(COIL_SEC((intptr_t)i));

    if (rc < 0)
        return rc;
    trace("%d fails", (int)(intptr_t)i);
    return rcs[(intptr_t)i];
}

SCENARIO(never_retrieved_failures_are_reported_in_the_order_of_release)
{
    static const int order[] = {1, 2, 0};
    coil_task *tasks[3] = {NULL};
    int rc = 0;

    coil_set_exception_handler(tell_exception, NULL);
    for (intptr_t i = 0; i < 3 && rc == 0; i++)
        rc = coil_spawn(body, (void *)i, NULL, &tasks[i]);
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(3));
    for (int i = 0; i < 3; i++) {
        trace("let go of %d", order[i]);
        coil_task_release(tasks[order[i]]);
    }
    return rc;
}
