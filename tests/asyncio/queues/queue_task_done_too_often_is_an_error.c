/*
 * Saying more often that an item is dealt with than items were put is an error, for each
 * kind of queue.
 */
#include "queues.h"

static void task_done(const char *when)
{
    trace("%s: %s", when, outcome(coil_queue_task_done(q)));
}

static int check(void)
{
    int rc;

    task_done("nothing was put");
    rc = put(1);
    if (rc < 0)
        return rc;
    task_done("one was put");
    task_done("again");
    trace("get: %d", get());
    task_done("got");
    return 0;
}

SCENARIO(queue_task_done_too_often_is_an_error)
{
    return each_kind(0, check);
}
