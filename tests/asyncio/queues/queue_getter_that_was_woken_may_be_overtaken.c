/*
 * A getter that is woken for an item finds it taken by one who came without waiting, and
 * goes to the end of the line.
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

SCENARIO(queue_getter_that_was_woken_may_be_overtaken)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(1);
    trace("we have %s", outcome(get_nowait()));
    turns(1);
    put_nowait(2);
    put_nowait(3);
    turns(1);
    trace("%d in it", qsize());
    return 0;
}
