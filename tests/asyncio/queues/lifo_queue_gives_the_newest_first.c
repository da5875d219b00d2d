/*
 * A last in first out queue gives the newest item that is in it; its getters stand in
 * line as ever.
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

SCENARIO(lifo_queue_gives_the_newest_first)
{
    use_queue(COIL_QUEUE_LIFO, 3);
    for (int i = 0; i < 3; i++)
        put((const int[]){1, 3, 2}[i]);
    trace("full %d", coil_queue_full(q));
    trace("get: %d", get());
    put(4);
    for (int i = 0; i < 3; i++)
        trace("get: %d", get());
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    put(5);
    put(6);
    turns(1);
    trace("%d in it", qsize());
    return 0;
}
