/*
 * A pipeline of three tasks with bounded queues between them: the slow last stage holds
 * up the first.
 */
#include "queues.h"

static coil_queue *first, *second;

static int produce(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int item = 1; item <= 4 && rc == 0; item++) {
        rc = coil_queue_put(first, &item);
        if (rc == 0)
            trace("produced %d", item);
    }
    coil_queue_shutdown(first, false);
    return rc;
}

static int double_all(void *arg)
{
    int item, rc;

    (void)arg;
    while ((rc = coil_queue_get(first, &item)) == 0) {
        item *= 2;
        rc = coil_queue_put(second, &item);
        if (rc < 0)
            break;
    }
    coil_queue_shutdown(second, false);
    if (rc == -ESHUTDOWN)
        trace("doubled all");
    return 0;
}

SCENARIO(queue_between_three_stages)
{
    int item;

    use_queue(COIL_QUEUE_FIFO, 1);
    first = q;
    use_queue(COIL_QUEUE_FIFO, 1);
    second = q;
    if (start(produce, NULL) == NULL || start(double_all, NULL) == NULL)
        return -ENOMEM;
    while (coil_queue_get(second, &item) == 0) {
        trace("got %d", item);
        coil_sleep(COIL_SEC(1));
    }
    trace("end");
    return 0;
}
