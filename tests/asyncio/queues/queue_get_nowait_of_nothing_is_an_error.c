/*
 * Taking from an empty queue without waiting is an error, and takes nobody's place in the
 * line.
 */
#include "queues.h"

static int taker(void *name)
{
    int item = get();

    if (item < 0)
        return item;
    trace("%s has %d", (char *)name, item);
    return 0;
}

SCENARIO(queue_get_nowait_of_nothing_is_an_error)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    trace("get: %s", outcome(get_nowait()));
    if (start(taker, "a") == NULL)
        return -ENOMEM;
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    put(1);
    put(2);
    for (int i = 0; i < 3; i++)
        trace("get: %s", outcome(get_nowait()));
    put(3);
    turns(1);
    return 0;
}
