/*
 * A shutdown sends all getters away in one turn, in the order in which they came, after
 * who was given an item before.
 */
#include "queues.h"

static int taker(void *name)
{
    int rc = get();

    trace("%s: %s", (char *)name, outcome(rc));
    return rc < 0 ? 0 : rc;
}

SCENARIO(queue_shut_down_wakes_everybody_in_line)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(taker, "a") == NULL || start(taker, "b") == NULL ||
        start(taker, "c") == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(5);
    coil_queue_shutdown(q, false);
    trace("shut down: %d in it", qsize());
    turns(1);
    trace("%d in it", qsize());
    return 0;
}
