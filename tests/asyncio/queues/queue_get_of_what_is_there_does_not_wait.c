/* Getting what is in the queue lets no turn pass; getting what is not, does. */
#include "queues.h"

static void put_three(void *arg)
{
    (void)arg;
    put_nowait(3);
}

SCENARIO(queue_get_of_what_is_there_does_not_wait)
{
    int rc;

    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(ticker, TURNS(3)) == NULL)
        return -ENOMEM;
    put_nowait(1);
    put_nowait(2);
    trace("get: %d", get_nowait());
    trace("get: %d", get_nowait());
    rc = coil_call_soon(put_three, NULL, NULL);
    if (rc < 0)
        return rc;
    trace("get: %d", get());
    return 0;
}
