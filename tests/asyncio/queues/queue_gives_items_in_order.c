/*
 * Items come out in the order in which they went in, also when the queue is filled and
 * emptied by turns.
 */
#include "queues.h"

SCENARIO(queue_gives_items_in_order)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    for (int i = 0; i < 3; i++)
        put((const int[]){1, 3, 2}[i]);
    trace("get: %d", get_nowait());
    for (int i = 0; i < 2; i++)
        put((const int[]){9, 4}[i]);
    for (int i = 0; i < 4; i++)
        trace("get: %d", get_nowait());
    return 0;
}
