/* A queue is empty before the first item and after the last. */
#include "queues.h"

static void look(void)
{
    trace("empty %d, %d in it", coil_queue_empty(q), qsize());
}

SCENARIO(queue_is_empty_again_when_all_is_taken)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    look();
    put(1);
    put(2);
    look();
    trace("get: %d", get());
    look();
    trace("get: %d", get());
    look();
    return 0;
}
