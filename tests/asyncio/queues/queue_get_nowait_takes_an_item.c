/* What does not wait takes items and puts them in as what waits does. */
#include "queues.h"

SCENARIO(queue_get_nowait_takes_an_item)
{
    int rc;

    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    for (int i = 0; i < 2; i++) {
        rc = put_nowait((const int[]){7, 5}[i]);
        trace("put: %s, %d in it", outcome(rc), qsize());
    }
    for (int i = 0; i < 2; i++) {
        rc = get_nowait();
        trace("get: %s, %d in it", outcome(rc), qsize());
    }
    return 0;
}
