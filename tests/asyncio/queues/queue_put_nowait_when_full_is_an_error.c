/* Putting into a full queue without waiting is an error and puts nothing. */
#include "queues.h"

SCENARIO(queue_put_nowait_when_full_is_an_error)
{
    int rc;

    use_queue(COIL_QUEUE_FIFO, 1);
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    trace("put: %s", outcome(put_nowait(1)));
    rc = put_nowait(2);
    trace("put: %s, %d in it", outcome(rc), qsize());
    trace("get: %s", outcome(get_nowait()));
    trace("put: %s", outcome(put_nowait(3)));
    trace("get: %s", outcome(get_nowait()));
    return 0;
}
