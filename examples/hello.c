/*
 * hello.c - two tasks that run alternately.
 */
#include <coil.h>

#include <stdio.h>

static int greet(void *arg)
{
    const char *name = arg;

    printf("hello, %s\n", name);
    int rc = coil_sleep(COIL_MSEC(100)); // meanwhile, the other task runs
    if (rc < 0)
        return rc; // cancelled
    printf("goodbye, %s\n", name);
    return 0;
}

static int app(void *arg)
{
    (void)arg;
    coil_group group;

    coil_group_enter(&group);
    int rc = coil_group_spawn(&group, greet, "Ada", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, greet, "Grace", NULL, NULL);
    return coil_group_exit(&group, rc); // both tasks have ended here
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
