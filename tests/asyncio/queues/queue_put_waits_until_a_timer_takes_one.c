/* A task that puts into a full queue goes on when a timer takes something out. */
#include "queues.h"

static coil_event started = COIL_EVENT_INIT;

static int giver(void *arg)
{
    (void)arg;
    coil_event_set(&started);
    for (int item = 1; item <= 2; item++) {
        int rc = put(item);

        if (rc < 0)
            return rc;
        trace("put %d", item);
    }
    return 0;
}

static void take(void *arg)
{
    (void)arg;
    trace("took %s", outcome(get_nowait()));
}

SCENARIO(queue_put_waits_until_a_timer_takes_one)
{
    coil_task *task;
    int rc;

    use_queue(COIL_QUEUE_FIFO, 1);
    rc = coil_call_later(COIL_SEC(4), take, NULL, NULL);
    if (rc < 0)
        return rc;
    task = start(giver, NULL);
    if (task == NULL)
        return -ENOMEM;
    coil_event_wait(&started);
    trace("giver: %s", state(coil_task_future(task)));
    trace("giver: %s", outcome(coil_task_await(task)));
    trace("%d in it", qsize());
    return 0;
}
