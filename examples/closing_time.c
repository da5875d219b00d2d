/*
 * closing_time.c - a service that reports when it is ready, and ends cleanly when it is
 * cancelled.
 */
#include <coil.h>

#include <stdio.h>

/* Clean up, even if the task was cancelled, but with a time limit. */
static void clean_up(void)
{
    int rc = -ENOMEM;

    COIL_WITH_SHIELD(COIL_SEC(1))
    rc = coil_sleep(COIL_MSEC(1));
    printf("cleaned up: %s\n", rc == 0 ? "yes" : "no");
}

static int serve(void *arg)
{
    coil_queue *orders = arg;
    coil_cancel_origin origin;
    int rc, order;

    rc = coil_sleep(COIL_MSEC(1)); /* stands for opening resources, which may fail */
    if (rc < 0)
        return rc;
    coil_group_started(7); /* coil_group_start() returns this value */
    while ((rc = coil_queue_get(orders, &order)) == 0)
        printf("served %d\n", order);
    if (rc == -ECANCELED && coil_task_cancel_origin(coil_task_current(), &origin))
        printf("'%s' says: %s\n", origin.task, origin.reason);
    clean_up();
    return rc;
}

static int run(void *arg)
{
    coil_queue orders = COIL_QUEUE_INIT(sizeof(int), 0);
    int rc;

    (void)arg;
    COIL_WITH_GROUP(group, rc)
    {
        rc = coil_group_start(&group, serve, &orders, NULL, NULL);
        printf("ready: %d\n", rc);
        for (int order = 1; rc >= 0 && order <= 2; order++)
            rc = coil_queue_put(&orders, &order);
        if (rc >= 0)
            rc = coil_sleep(COIL_MSEC(1));
        coil_group_cancel(&group, "closing time");
    }
    coil_queue_finish(&orders);
    return rc;
}

int main(void)
{
    int rc = coil_run(run, NULL, NULL);

    printf("ended with %d\n", rc);
    return rc < 0;
}
