/* A task awaits two others one after the other and returns what it made of them. */
#include "../scenario.h"

static int inner(void *arg)
{
    int value = (int)(intptr_t)arg, rc;

    trace("inner %d begins", value);
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : value;
}

static int result_of_inner(int value)
{
    coil_task *task = start(inner, (void *)(intptr_t)value);
    int rc = task != NULL ? coil_task_await(task) : -ENOMEM;

    trace("got %d", rc);
    return rc;
}

static int outer(void *arg)
{
    int left, right;

    (void)arg;
    left = result_of_inner(42);
    if (left < 0)
        return left;
    right = result_of_inner(1000);
    return right < 0 ? right : left + right;
}

SCENARIO(task_results_are_added_up)
{
    coil_task *task = start(outer, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("before: %s", state(coil_task_future(task)));
    trace("sum: %s", outcome(coil_task_await(task)));
    return 0;
}
