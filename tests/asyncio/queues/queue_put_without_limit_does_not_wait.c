/* Putting into a queue without a limit lets no turn pass, however much is in it. */
#include "queues.h"

SCENARIO(queue_put_without_limit_does_not_wait)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    for (int item = 1; item <= 100; item++)
        put(item);
    trace("%d in it", qsize());
    trace("get: %d", get());
    return 0;
}
