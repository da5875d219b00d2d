/*
 * A putter that is cancelled after room was made for it leaves the room to the next in
 * line.
 */
#include "queues.h"

SCENARIO(queue_woken_putter_cancelled_wakes_the_next)
{
    coil_task *a, *b;

    use_queue(COIL_QUEUE_FIFO, 1);
    put_nowait(1);
    a = start(putter, ITEM(2));
    b = start(putter, ITEM(3));
    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    coil_task_cancel(a, NULL);
    trace("a: %s", outcome(coil_task_await(a)));
    turns(1);
    trace("b %s, %d in it", state(coil_task_future(b)), qsize());
    trace("get: %s", outcome(get_nowait()));
    return 0;
}
