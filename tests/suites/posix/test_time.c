/*
 * test_time.c - sleeping, which has the same results in a task and outside tasks.
 */
#include "differential.h"

#include <sched.h>
#include <time.h>

SAME(sleep_for_a_span, true)
{
    struct timespec span = {.tv_nsec = 20000000};

    RECORD_AT_LEAST(20, nanosleep(&span, NULL));
    RECORD_AT_LEAST(20, nanosleep(&span, &span));
    record("%ld", span.tv_nsec);
    RECORD_AT_LEAST(20, clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL));
    RECORD_AT_LEAST(20, usleep(20000));
    RECORD(usleep(0));
    RECORD(sleep(0));
    RECORD_AT_LEAST(1000, sleep(1));
    RECORD(sched_yield());
}

SAME(sleep_to_a_point_of_time, true)
{
    struct timespec t;

    for (int i = 0; i < 2; i++) {
        clockid_t clock = i == 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;

        t = from_now(clock, 100);
        RECORD(clock_nanosleep(clock, TIMER_ABSTIME, &t, NULL));
        record("%s", has_come(clock, &t) ? "it was time" : "too early");
        /* this time has already passed */
        RECORD(clock_nanosleep(clock, TIMER_ABSTIME, &t, &t));
    }
}

SAME(sleep_what_cannot_be, false)
{
    struct timespec spans[] = {{-1, 0}, {0, -1}, {0, 1000000000}};

    for (int i = 0; i < 3; i++) {
        RECORD(nanosleep(&spans[i], NULL));
        RECORD(clock_nanosleep(CLOCK_MONOTONIC, 0, &spans[i], NULL));
        RECORD(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &spans[i], NULL));
    }
    RECORD(clock_nanosleep(99, 0, &(struct timespec){0, 0}, NULL));
    RECORD(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &(struct timespec){0, 0}, NULL));
}

/* Sleeping uses the loop's clock. With a virtual clock, an hour takes no real time. */
TASK_TEST(sleep_by_the_loops_clock)
{
    CHECK_INT(sleep(3600), 0);
    CHECK_INT(coil_now(), COIL_SEC(3600));
    CHECK_INT(poll(NULL, 0, 60000), 0);
    CHECK_INT(coil_now(), COIL_SEC(3660));
}
