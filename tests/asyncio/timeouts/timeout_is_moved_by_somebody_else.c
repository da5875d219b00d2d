/* Another task may move the deadline, nearer, further, or away. */
#include "timeouts.h"

static coil_scope scope;

static int body(void *arg)
{
    int rc = enter(&scope, 10);

    (void)arg;
    if (rc < 0)
        return rc;
    return leave("timeout", &scope, tell("sleep", coil_sleep(COIL_SEC(50))));
}

static coil_task *begin(void)
{
    coil_task *task = start(body, NULL);

    if (task == NULL || coil_sleep(COIL_SEC(1)) < 0 ||
        coil_future_done(coil_task_future(task)))
        return NULL;
    return task;
}

SCENARIO(timeout_is_moved_by_somebody_else)
{
    static const int64_t deadlines[] = {COIL_SEC(20), COIL_SEC(4), COIL_NEVER};
    coil_task *task = begin();

    if (task == NULL)
        return -ENOMEM;
    for (int i = 0; i < 3; i++) {
        trace("deadline %d", (int)(coil_scope_deadline(&scope) / COIL_SEC(1)));
        coil_scope_set_deadline(&scope, deadlines[i]);
    }
    trace("deadline %s", coil_scope_deadline(&scope) == COIL_NEVER ? "none" : "some");
    coil_sleep(COIL_SEC(30));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    tell("task", coil_task_await(task));
    task = begin();
    if (task == NULL)
        return -ENOMEM;
    coil_scope_set_deadline(&scope, COIL_SEC(35));
    tell("task", coil_task_await(task));
    return 0;
}
