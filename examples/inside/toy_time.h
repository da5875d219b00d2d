/*
 * toy_time.h - the clock of the toy programs in seconds, and a sleep that blocks the
 * whole thread.
 */
#ifndef TOY_TIME_H
#define TOY_TIME_H

#include <time.h>

static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void sleep_until(double when)
{
    double left = when - now();
    struct timespec span = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};

    if (left > 0)
        nanosleep(&span, NULL);
}

#endif
