/* A failure nobody asked for is reported, but not once somebody has tried to cancel it.
 */
#include "tasks.h"

SCENARIO(failure_is_not_reported_after_cancel)
{
    coil_set_exception_handler(tell_exception, NULL);
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
