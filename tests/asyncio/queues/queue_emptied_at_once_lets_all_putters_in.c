/*
 * Where a full queue is emptied in one turn, each item that was taken lets one of those
 * in who wait.
 */
#include "queues.h"

static int put_and_say(void *item)
{
    int rc = putter(item);

    if (rc == 0)
        trace("put %d", (int)(intptr_t)item);
    return rc;
}

static int taker(void *arg)
{
    int count;

    (void)arg;
    turns(1);
    count = qsize();
    trace("takes %d", count);
    while (count-- > 0)
        get_nowait();
    return 0;
}

SCENARIO(queue_emptied_at_once_lets_all_putters_in)
{
    coil_group group;
    int rc;

    use_queue(COIL_QUEUE_FIFO, 2);
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, taker, NULL, NULL, NULL);
    for (int item = 1; item <= 4 && rc == 0; item++)
        rc = coil_group_spawn(&group, put_and_say, ITEM(item), NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("%d in it", qsize());
    return rc;
}
