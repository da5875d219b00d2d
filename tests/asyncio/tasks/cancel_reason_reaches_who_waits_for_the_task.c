/* The reason a task is cancelled with is seen inside it, and by whoever waited for it. */
#include "../scenario.h"

static const char *or_none(const char *reason)
{
    return reason != NULL ? reason : "none";
}

static int body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    trace("inside: %s", or_none(coil_cancel_reason()));
    return rc;
}

SCENARIO(cancel_reason_reaches_who_waits_for_the_task)
{
    static const char *const reasons[] = {"time to go home", NULL};

    for (int i = 0; i < 2; i++) {
        coil_task *task = start(body, NULL);
        coil_future *future;
        int done;

        if (task == NULL)
            return -ENOMEM;
        future = coil_task_future(task);
        turns(1);
        coil_task_cancel(task, reasons[i]);
        done = coil_wait(&future, 1, COIL_WAIT_ALL, COIL_NEVER);
        trace("outside: %d done, %s", done, or_none(coil_future_cancel_reason(future)));
    }
    return 0;
}
