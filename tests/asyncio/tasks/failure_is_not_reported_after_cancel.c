/* A failure nobody asked for is reported, but not once somebody has tried to cancel it.
 */
#include "tasks.h"

static void report(const coil_exception *exception, void *arg)
{
    (void)arg;
    trace("reported: %s", exception->message);
}

SCENARIO(failure_is_not_reported_after_cancel)
{
    coil_set_exception_handler(report, NULL);
    for (int cancels = 1; cancels >= 0; cancels--) {
        coil_task *task;
        int rc = coil_spawn(failer, NULL, NULL, &task);

        if (rc < 0)
            return rc;
        trace(cancels ? "cancels" : "leaves it");
        coil_sleep(COIL_SEC(1));
        if (cancels)
            trace("cancel: %d", coil_task_cancel(task, NULL));
        coil_task_release(task);
        trace("gone");
    }
    return 0;
}
