/* pool.c - three workers take jobs from a queue that holds at most four. */
#include <coil.h>
#include <stdio.h>

static coil_queue jobs = COIL_QUEUE_INIT(sizeof(int), 4);
static int sum;

static int work(void *arg)
{
    int job, rc;

    (void)arg;
    while ((rc = coil_queue_get(&jobs, &job)) == 0) {
        rc = coil_sleep(COIL_MSEC(10));
        if (rc < 0)
            return rc;
        sum += job * job;
    }
    return rc == -ESHUTDOWN ? 0 : rc;
}

static int app(void *arg)
{
    int rc;

    (void)arg;
    COIL_WITH_GROUP(group, rc)
    {
        for (int i = 0; i < 3 && rc == 0; i++)
            rc = coil_group_spawn(&group, work, NULL, NULL, NULL);
        for (int job = 1; job <= 20 && rc == 0; job++)
            rc = coil_queue_put(&jobs, &job);
        coil_queue_shutdown(&jobs, false);
    }
    coil_queue_finish(&jobs);
    printf("%d\n", sum);
    return rc;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
