/*
 * Putters that waited when the queue was shut down put nothing, even if there is room by
 * the time they go on.
 */
#include "queues.h"

static int put_and_say(void *item)
{
    int rc = putter(item);

    trace("%d: %s", (int)(intptr_t)item, outcome(rc));
    return 0;
}

SCENARIO(queue_shut_down_while_full_never_lets_putters_in)
{
    use_queue(COIL_QUEUE_FIFO, 1);
    for (int item = 1; item <= 3; item++)
        if (start(put_and_say, ITEM(item)) == NULL)
            return -ENOMEM;
    turns(1);
    coil_queue_shutdown(q, false);
    trace("get: %s", outcome(get_nowait()));
    turns(1);
    trace("%d in it", qsize());
    return 0;
}
