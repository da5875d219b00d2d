/*
 * A task that is cancelled while it joins ends cancelled; another that joins goes on when
 * the work is done.
 */
#include "queues.h"

SCENARIO(queue_join_cancelled_waits_no_more)
{
    coil_task *a, *b;

    use_queue(COIL_QUEUE_FIFO, 0);
    put_nowait(1);
    a = start(joiner, NULL);
    b = start(joiner, NULL);
    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    trace("get: %d", get());
    turns(1);
    trace("b %s", state(coil_task_future(b)));
    coil_queue_task_done(q);
    turns(1);
    trace("b %s", state(coil_task_future(b)));
    return 0;
}
