/*
 * unmodified.c - ordinary blocking code, which sleeps and reads, runs unmodified in
 * tasks.
 *
 *     cc unmodified.c $(pkg-config --cflags --libs coil-posix)
 *
 * Apart from main(), only start() uses coil. Three tasks sleep for half a second each,
 * and a fourth task reads their output. The whole program takes half a second.
 */
#include <coil.h>
#include <coil/posix.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int ends[2];

/* [tasks] */
static int work(void *name)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    return write(ends[1], name, 1) == 1 ? 0 : -errno;
}

static int collect(void *arg)
{
    char letter;

    (void)arg;
    for (int i = 0; i < 3; i++)
        if (read(ends[0], &letter, 1) == 1)
            printf("%c ", letter);
    return 0;
}
/* [end] */

static int start(void *arg)
{
    int64_t began = coil_now();
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, collect, NULL, NULL, NULL);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, work, &"abc"[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    puts(coil_now() - began < COIL_MSEC(1400) ? "at once" : "one after the other");
    return rc;
}

int main(void)
{
    if (!coil_posix_active() || pipe(ends) < 0)
        return 1;
    return coil_run(start, NULL, NULL) < 0;
}
