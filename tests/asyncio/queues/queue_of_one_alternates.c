/*
 * A producer and a consumer with a queue for one between them: neither waits when it need
 * not.
 */
#include "queues.h"

static int producer(void *arg)
{
    (void)arg;
    for (int item = 1; item < 6; item++) {
        int rc = put(item);

        if (rc < 0)
            return rc;
        trace("put %d", item);
    }
    return 0;
}

static int consumer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        int item = get();

        if (item < 0)
            return item;
        trace("got %d", item);
    }
    return 0;
}

SCENARIO(queue_of_one_alternates)
{
    coil_group group;
    int rc;

    use_queue(COIL_QUEUE_FIFO, 1);
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, producer, NULL, NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, consumer, NULL, NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("end");
    return rc;
}
