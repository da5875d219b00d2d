/*
 * A task that puts where there is room is done when the one that waits for the item has
 * it.
 */
#include "queues.h"

static int put_one(void *arg)
{
    int rc = put(1);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("put");
    return 7;
}

SCENARIO(queue_put_by_a_task_ends_it_at_once)
{
    coil_task *task;

    use_queue(COIL_QUEUE_FIFO, 0);
    task = start(put_one, NULL);
    if (task == NULL)
        return -ENOMEM;
    trace("get: %d", get());
    trace("putter: %s", state(coil_task_future(task)));
    return 0;
}
