/* Putting wakes the one who waited longest, and lets no turn pass. */
#include "queues.h"

static int taker(void *name)
{
    int item = get();

    if (item < 0)
        return item;
    trace("%s has %d", (char *)name, item);
    return 0;
}

SCENARIO(queue_put_wakes_a_getter)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    put(5);
    trace("put");
    turns(1);
    put(6);
    trace("put");
    turns(1);
    trace("%d in it", qsize());
    return 0;
}
