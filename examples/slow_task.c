/*
 * slow_task.c - a bug to find with coil-ps (docs/manual/ps.md): a task computes for a
 * long time, and no other task runs.
 */
#include <coil.h>

static volatile unsigned long sum;

static void sort_slowly(void)
{
    for (;;)
        sum++;
}

static int serve(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc >= 0)
        rc = coil_sleep(COIL_MSEC(10));
    return rc;
}

static int compute(void *arg)
{
    int rc = coil_spawn(serve, NULL, NULL, NULL);

    (void)arg;
    if (rc < 0)
        return rc;
    coil_yield();
    sort_slowly();
    return 0;
}

int main(void)
{
    return coil_run(compute, NULL, NULL) != 0;
}
