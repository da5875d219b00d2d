/*
 * After an immediate shutdown joining still waits for an item that was taken before and
 * is not dealt with.
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
    trace("get: %d", get());
    coil_queue_shutdown(q, true);
    turns(1);
    trace("%d in it, joiner %s", qsize(), state(coil_task_future(join)));
    trace("get: %s", outcome(get()));
    trace("task_done: %s", outcome(coil_queue_task_done(q)));
    trace("task_done: %s", outcome(coil_queue_task_done(q)));
    turns(1);
    trace("joiner %s", state(coil_task_future(join)));
    return 0;
}

SCENARIO(queue_shut_down_at_once_awaits_what_was_taken)
{
    return each_kind(0, check);
}
