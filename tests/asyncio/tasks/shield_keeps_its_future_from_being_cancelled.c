/* Who waits behind a shield is cancelled; the future stays pending, and can still be set.
 */
#include "../scenario.h"

static int body(void *future)
{
    return tell("told", coil_shield(future));
}

SCENARIO(shield_keeps_its_future_from_being_cancelled)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    turns(1);
    trace("task %s, future %s", state(coil_task_future(task)), state(future));
    coil_future_set(future, 5, NULL, NULL);
    turns(2);
    trace("task %s, future %s", state(coil_task_future(task)), state(future));
    return 0;
}
