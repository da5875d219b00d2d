/*
 * coil_farm.c LOOPS JOBS - runs a task for each job, on one or several loops.
 *
 * A task of the first loop puts the jobs into a channel. On each loop a dispatcher takes
 * jobs, and spawns a task for each, at most IN_FLIGHT at a time. The program prints the
 * processor time per job in microseconds, the jobs per second, and the sum of all
 * results.
 */
#include <coil.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { IN_FLIGHT = 128, WORK = 1000, CAPACITY = 256 };

static coil_channel *channel;
static uintptr_t jobs;
static _Atomic uint64_t sum;
static _Thread_local uint64_t sum_here;
static _Thread_local coil_semaphore in_flight;

static uint64_t compute(uint64_t x)
{
    for (int i = 0; i < WORK; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

static int work(void *job)
{
    sum_here += compute((uintptr_t)job + 1);
    coil_semaphore_release(&in_flight);
    return 0;
}

static int produce(void *arg)
{
    int rc = 0;

    (void)arg;
    for (uintptr_t i = 0; i < jobs && rc == 0; i++)
        rc = coil_channel_put(channel, &i);
    coil_channel_shutdown(channel);
    return rc;
}

static int dispatch(void *arg)
{
    coil_group group;
    uintptr_t job;
    int rc = 0;

    (void)arg;
    coil_semaphore_init(&in_flight, IN_FLIGHT);
    coil_group_enter(&group);
    if (coil_thread_index() == 0)
        rc = coil_group_spawn(&group, produce, NULL, NULL, NULL);
    while (rc == 0 && (rc = coil_channel_get(channel, &job)) == 0) {
        rc = coil_semaphore_acquire(&in_flight);
        if (rc == 0)
            rc = coil_group_spawn(&group, work, (void *)job, NULL, NULL);
    }
    rc = coil_group_exit(&group, rc == -ESHUTDOWN ? 0 : rc);
    coil_semaphore_finish(&in_flight);
    sum += sum_here;
    return rc;
}

static double microseconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
    double cpu, wall;
    int rc;

    if (argc != 3) {
        fprintf(stderr, "usage: coil_farm LOOPS JOBS\n");
        return 2;
    }
    jobs = strtoul(argv[2], NULL, 10);
    if (coil_channel_create(sizeof jobs, CAPACITY, &channel) < 0)
        return 1;
    cpu = microseconds(CLOCK_PROCESS_CPUTIME_ID);
    wall = microseconds(CLOCK_MONOTONIC);
    rc = coil_run_threads((unsigned)atoi(argv[1]), dispatch, NULL, NULL);
    cpu = microseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = microseconds(CLOCK_MONOTONIC) - wall;
    coil_channel_release(channel);
    printf("%.4f %.0f %llu\n", cpu / (double)jobs, (double)jobs * 1e6 / wall,
           (unsigned long long)sum);
    return rc < 0;
}
