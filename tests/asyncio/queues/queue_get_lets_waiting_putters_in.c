/*
 * Getting twice from a queue for one gives the items of two tasks that put them, in
 * order.
 */
#include "queues.h"

static int put_and_say(void *item)
{
    int rc;

    trace("puts %d", (int)(intptr_t)item);
    rc = putter(item);
    if (rc == 0)
        trace("has put %d", (int)(intptr_t)item);
    return rc;
}

SCENARIO(queue_get_lets_waiting_putters_in)
{
    use_queue(COIL_QUEUE_FIFO, 1);
    if (start(put_and_say, ITEM(1)) == NULL || start(put_and_say, ITEM(2)) == NULL)
        return -ENOMEM;
    trace("get: %s", outcome(get()));
    trace("get: %s", outcome(get()));
    trace("empty %d", coil_queue_empty(q));
    return 0;
}
