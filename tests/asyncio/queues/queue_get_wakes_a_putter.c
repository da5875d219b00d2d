/* Taking an item wakes the one who waited longest to put one, and only that one. */
#include "queues.h"

static int put_and_say(void *item)
{
    int rc = putter(item);

    if (rc == 0)
        trace("put %d", (int)(intptr_t)item);
    return rc;
}

SCENARIO(queue_get_wakes_a_putter)
{
    use_queue(COIL_QUEUE_FIFO, 1);
    for (int item = 1; item <= 3; item++)
        if (start(put_and_say, ITEM(item)) == NULL)
            return -ENOMEM;
    turns(1);
    for (int i = 0; i < 3; i++) {
        trace("get: %d", get());
        turns(2);
    }
    return 0;
}
