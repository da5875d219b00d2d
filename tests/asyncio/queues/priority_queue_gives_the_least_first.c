/*
 * A priority queue gives the least item that is in it, whenever it was put; its getters
 * stand in line as ever.
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

SCENARIO(priority_queue_gives_the_least_first)
{
    use_queue(COIL_QUEUE_PRIORITY, 5);
    for (int i = 0; i < 5; i++)
        put((const int[]){4, 1, 5, 3, 2}[i]);
    trace("full %d", coil_queue_full(q));
    for (int i = 0; i < 2; i++)
        trace("get: %d", get());
    put(1);
    put(9);
    for (int i = 0; i < 5; i++)
        trace("get: %d", get());
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    put(6);
    put(5);
    turns(1);
    trace("%d in it", qsize());
    return 0;
}
