/*
 * A putter that is cancelled while the queue is full is forgotten: room that is made
 * later is for others.
 */
#include "queues.h"

SCENARIO(queue_put_cancelled_leaves_the_line)
{
    coil_task *a, *b;

    use_queue(COIL_QUEUE_FIFO, 1);
    put_nowait(1);
    a = start(putter, ITEM(2));
    b = start(putter, ITEM(3));
    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    coil_task_cancel(a, NULL);
    trace("a: %s", outcome(coil_task_await(a)));
    trace("get: %s", outcome(get_nowait()));
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    trace("get: %s", outcome(get_nowait()));
    return 0;
}
