/*
 * bench.h - functions that all benchmark programs in C share.
 *
 * A program is called as `PROGRAM ROW` and prints lines `ROW VALUE UNIT`. Times are
 * processor time, not elapsed time. Processor time includes the program's work in the
 * kernel and on other threads, but not other programs on the machine.
 */
#ifndef COIL_BENCH_H
#define COIL_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_TIMERS 1000000

struct bench_row {
    const char *name;
    void (*run)(const struct bench_row *row);
    long n;    /* number of measured operations */
    int shape; /* the number of tasks, or of items in a queue, depending on the row */
};

static inline double bench_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline void bench_report(const char *row, double value, const char *unit)
{
    printf("%s %.4g %s\n", row, value, unit);
    fflush(stdout);
}

/* Print the processor time per operation of the row since `start`. */
static inline void bench_time(const struct bench_row *row, double start)
{
    bench_report(row->name, (bench_cpu_ns() - start) / (double)row->n, "ns");
}

/* Print a message and exit with status 1 unless `ok` is true. */
static inline void bench_must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "bench: %s failed\n", what);
        exit(1);
    }
}

/* Return a value from /proc/self/status, in bytes. */
static inline double bench_status(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;

    bench_must(file != NULL, "/proc/self/status");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kib = atof(line + strlen(key) + 1);
    fclose(file);
    return kib * 1024;
}

/*
 * Return the peak memory, including page tables. The peak resident memory alone would be
 * wrong on a machine where the kernel reclaims memory.
 */
static inline double bench_memory(void)
{
    return bench_status("VmHWM") + bench_status("VmPTE");
}

/*
 * Return the next of a series of delays between 0 and 1 s. All peers use the same series.
 */
static inline int64_t bench_delay_ns(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((*state >> 33) % 1000000000);
}

static inline int bench_main(int argc, char **argv, const struct bench_row *rows)
{
    for (const struct bench_row *row = rows; argc == 2 && row->name != NULL; row++) {
        if (strcmp(row->name, argv[1]) == 0) {
            row->run(row);
            return 0;
        }
    }
    fprintf(stderr, "usage: %s ROW\n", argv[0]);
    return 3;
}

#endif
