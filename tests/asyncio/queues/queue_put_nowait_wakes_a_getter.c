/*
 * An item that is put without waiting is for the getter that waits, in the next turn; the
 * putter does not wait for that.
 */
#include "queues.h"

static int taker(void *arg)
{
    int item = get();

    (void)arg;
    if (item < 0)
        return item;
    trace("has %d", item);
    return 0;
}

SCENARIO(queue_put_nowait_wakes_a_getter)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(taker, NULL) == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(1);
    trace("put: %d in it", qsize());
    put_nowait(2);
    turns(1);
    trace("%d in it", qsize());
    trace("get: %s", outcome(get_nowait()));
    return 0;
}
