/*
 * posix.c - a user's program whose blocking calls suspend its tasks.
 */
#include <coil.h>
#include <stdio.h>
#include <time.h>

static bool ran;

static int run_meanwhile(void *arg)
{
    (void)arg;
    ran = true;
    return 0;
}

static int app(void *arg)
{
    struct timespec span = {.tv_nsec = 1000000};

    (void)arg;
    if (coil_spawn(run_meanwhile, NULL, NULL, NULL) < 0)
        return 1;
    nanosleep(&span, NULL);
    puts(ran ? "the others ran meanwhile" : "nobody ran meanwhile");
    return 0;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
