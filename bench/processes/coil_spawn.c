/*
 * coil_spawn AT_ONCE COUNT MIB - starts /bin/true and waits for it, COUNT times, in
 * AT_ONCE tasks of a process that has touched MIB mebibytes of memory. The program prints
 * the microseconds per process.
 */
#include "touch.h"

#include <coil.h>

static int left, failures;

static int spawn_some(void *arg)
{
    const char *argv[] = {"/bin/true", NULL};

    (void)arg;
    while (left-- > 0) {
        coil_process *p;
        int rc = coil_process_spawn(&(coil_process_opts){.argv = argv}, &p);

        if (rc == 0)
            rc = coil_process_wait(p);
        failures += rc != 0;
        if (rc < 0)
            return rc;
        coil_process_destroy(p);
    }
    return 0;
}

static int spawn_all(void *arg)
{
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < *(int *)arg && rc == 0; i++)
        rc = coil_group_spawn(&group, spawn_some, NULL, NULL, NULL);
    return coil_group_exit(&group, rc);
}

int main(int argc, char **argv)
{
    int at_once = argc > 3 ? atoi(argv[1]) : 1, count = argc > 3 ? atoi(argv[2]) : 100;
    double began;
    int rc;

    touch(argc > 3 ? atoi(argv[3]) : 0);
    left = count;
    began = now_us();
    rc = coil_run(spawn_all, &at_once, NULL);
    printf("%.2f\n", (now_us() - began) / count);
    return rc < 0 || failures > 0;
}
