/*
 * A queue without a limit is never full; one with a limit is when it holds so many items.
 */
#include "queues.h"

static void fill(size_t maxsize)
{
    int rc;

    use_queue(COIL_QUEUE_FIFO, maxsize);
    trace("maxsize %zu", coil_queue_maxsize(q));
    for (int item = 1; item <= 3; item++) {
        rc = put_nowait(item);
        trace("put: %s; full %d", outcome(rc), coil_queue_full(q));
    }
    rc = get_nowait();
    trace("get: %d; full %d", rc, coil_queue_full(q));
}

SCENARIO(queue_is_full_at_its_maxsize)
{
    fill(0);
    fill(2);
    return 0;
}
