/*
 * Shutting down an empty queue of any kind sends a waiting getter away in the next turn,
 * and whoever comes after that; joining it does not wait.
 */
#include "queues.h"

static int check(void)
{
    coil_task *task = start(getter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_queue_shutdown(q, false);
    trace("%d in it, the getter: %s", qsize(), state(coil_task_future(task)));
    trace("join: %s", outcome(coil_queue_join(q)));
    turns(1);
    trace("the getter: %s", state(coil_task_future(task)));
    trace("put: %s", outcome(put(1)));
    trace("put_nowait: %s", outcome(put_nowait(1)));
    trace("get: %s", outcome(get()));
    trace("get_nowait: %s", outcome(get_nowait()));
    return 0;
}

SCENARIO(queue_shut_down_while_empty)
{
    return each_kind(0, check);
}
