/*
 * timed_condition.h - condition variables whose deadlines refer to CLOCK_MONOTONIC.
 */
#ifndef COIL_BASE_TIMED_CONDITION_H
#define COIL_BASE_TIMED_CONDITION_H

#include <pthread.h>
#include <time.h>

static inline void coil__timed_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

#endif
