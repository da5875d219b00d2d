/* A future wakes the task that awaits it in the next turn, with the value it was given.
 */
#include "../scenario.h"

static int body(void *future)
{
    int rc = coil_await(future);

    if (rc == 0)
        trace("got %s", (const char *)coil_future_value(future));
    return rc;
}

SCENARIO(task_goes_on_with_the_value_of_its_future)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 0, "a value", NULL);
    trace("set: task %s", state(coil_task_future(task)));
    turns(1);
    trace("one turn later: task %s", state(coil_task_future(task)));
    return 0;
}
