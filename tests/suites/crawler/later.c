/*
 * later.c - preloaded into coil-crawl: sets the monotonic clock ahead by a day and a
 * second as soon as FILE exists.
 *
 *     LATER=FILE
 *
 * In this way, tests make cached data a day old. Timeouts and sleeps that begin after the
 * jump take their usual time.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DAY_S (24 * 60 * 60)

static const char *path;

static void __attribute__((constructor)) read_environment(void)
{
    path = getenv("LATER");
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t clock, struct timespec * now);
    int rc;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    rc = real(clock, now);
    if (rc == 0 && clock == CLOCK_MONOTONIC && path != NULL && access(path, F_OK) == 0)
        now->tv_sec += DAY_S + 1;
    return rc;
}
