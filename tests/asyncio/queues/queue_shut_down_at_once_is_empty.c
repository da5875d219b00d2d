/*
 * Shutting down a queue of any kind immediately empties it, and what was in it counts as
 * dealt with.
 */
#include "queues.h"

static int check(void)
{
    coil_task *join;

    put_nowait(1);
    put_nowait(2);
    join = start(joiner, NULL);
    if (join == NULL)
        return -ENOMEM;
    turns(1);
    coil_queue_shutdown(q, true);
    trace("%d in it, joiner %s", qsize(), state(coil_task_future(join)));
    turns(1);
    trace("joiner %s", state(coil_task_future(join)));
    trace("put: %s", outcome(put(3)));
    trace("get: %s", outcome(get()));
    trace("task_done: %s", outcome(coil_queue_task_done(q)));
    return 0;
}

SCENARIO(queue_shut_down_at_once_is_empty)
{
    return each_kind(0, check);
}
