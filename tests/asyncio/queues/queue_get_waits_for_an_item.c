/* A task that gets from an empty queue goes on when a timer puts something in. */
#include "queues.h"

static coil_event started = COIL_EVENT_INIT;

static int taker(void *arg)
{
    int item;

    (void)arg;
    coil_event_set(&started);
    trace("wants one");
    item = get();
    if (item > 0)
        trace("has %d", item);
    return item;
}

static void put_one(void *arg)
{
    (void)arg;
    put_nowait(1);
}

SCENARIO(queue_get_waits_for_an_item)
{
    coil_task *task;
    int rc;

    use_queue(COIL_QUEUE_FIFO, 0);
    task = start(taker, NULL);
    if (task == NULL)
        return -ENOMEM;
    coil_event_wait(&started);
    trace("it waits");
    rc = coil_call_later(COIL_SEC(3), put_one, NULL, NULL);
    if (rc < 0)
        return rc;
    if (allocation_failed())
        return -ENOMEM;
    trace("taker: %s", outcome(coil_task_await(task)));
    return 0;
}
