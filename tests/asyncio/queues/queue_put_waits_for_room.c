/*
 * A task that puts three items into a queue for two waits with the third, and goes on in
 * the turn after one was taken.
 */
#include "queues.h"

static int put_three(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int item = 1; item <= 3 && rc == 0; item++) {
        rc = put(item);
        if (rc == 0)
            trace("put %d", item);
    }
    return rc;
}

SCENARIO(queue_put_waits_for_room)
{
    coil_task *task;

    use_queue(COIL_QUEUE_FIFO, 2);
    task = start(put_three, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(2);
    trace("%d in it", qsize());
    trace("get: %d", get_nowait());
    trace("%d in it", qsize());
    turns(1);
    trace("%d in it, the task: %s", qsize(), state(coil_task_future(task)));
    trace("get: %d", get_nowait());
    trace("get: %d", get_nowait());
    return 0;
}
