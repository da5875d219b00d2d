/* Of tasks that are gathered one failure is handed on; those that fail later are not
 * reported: it was known that they might. */
#include "../scenario.h"

static int body(void *seconds)
{
    int rc = coil_sleep(COIL_SEC((intptr_t)seconds));

    if (rc < 0)
        return rc;
    trace("%d fails", (int)(intptr_t)seconds);
    return -EIO;
}

SCENARIO(never_retrieved_failures_of_gathered_tasks_are_silent)
{
    coil_future *futures[3];
    coil_task *tasks[4] = {NULL};
    int rc = 0;

    coil_set_exception_handler(tell_exception, NULL);
    for (intptr_t i = 0; i < 4 && rc == 0; i++) {
        rc = coil_spawn(body, (void *)(i + 1), NULL, &tasks[i]);
        if (rc == 0 && i < 3)
            futures[i] = coil_task_future(tasks[i]);
    }
    if (rc == 0)
        trace("gathered: %s", outcome(coil_gather(futures, 3, 0, NULL)));
    for (int i = 0; i < 4; i++)
        coil_task_release(tasks[i]);
    return rc < 0 ? rc : coil_sleep(COIL_SEC(4));
}
