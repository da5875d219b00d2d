/*
 * sleepy.c - five tasks that each sleep five times for 0.1 seconds: 0.5 s in all.
 */
#include <coil.h>

#include <stdio.h>

#define TASKS 5
#define NAPS 5

static int sleepy(void *arg)
{
    const int number = *(const int *)arg;

    for (int nap = 0; nap < NAPS; nap++) {
        int rc = coil_sleep(COIL_MSEC(100));
        if (rc < 0)
            return rc;
        printf("coroutine %d: nap %d\n", number, nap);
    }
    return 0;
}

static int app(void *arg)
{
    (void)arg;
    int64_t begin = coil_now();
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < TASKS && rc == 0; i++) {
        coil_spawn_opts opts = {.arg_bytes = sizeof i}; // each task gets a copy of i
        rc = coil_group_spawn(&group, sleepy, &i, &opts, NULL);
    }
    rc = coil_group_exit(&group, rc);
    printf("%.1f s\n", (double)(coil_now() - begin) / 1e9);
    return rc;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
