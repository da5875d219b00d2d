/*
 * A putter that is woken for room finds it taken by one who came without waiting, and
 * goes to the end of the line.
 */
#include "queues.h"

static int put_and_say(void *item)
{
    int rc = putter(item);

    if (rc == 0)
        trace("put %d", (int)(intptr_t)item);
    return rc;
}

SCENARIO(queue_putter_that_was_woken_may_be_overtaken)
{
    use_queue(COIL_QUEUE_FIFO, 1);
    put_nowait(1);
    if (start(put_and_say, ITEM(2)) == NULL || start(put_and_say, ITEM(3)) == NULL)
        return -ENOMEM;
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    trace("put: %s", outcome(put_nowait(4)));
    turns(1);
    for (int i = 0; i < 3; i++) {
        trace("get: %s", outcome(get_nowait()));
        turns(1);
    }
    return 0;
}
