/*
 * claims.h - functions that the programs of bench/claims share.
 *
 * A program is called as `PROGRAM ROW [ARGUMENT...]` and prints lines `NAME VALUE`: one
 * for each figure of the row. Times are in nanoseconds, memory is in bytes.
 */
#ifndef COIL_CLAIMS_H
#define COIL_CLAIMS_H

#include "../bench.h"

#include <sys/resource.h>

/* The sleepers of docs/seeds.md: five tasks that each sleep five times. */
#define SLEEPERS 5
#define NAPS 5
#define NAP_MS 100

static inline void figure(const char *name, double value)
{
    printf("%s %.10g\n", name, value);
    fflush(stdout);
}

static inline double wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* processor time, elapsed time, and number of context switches of this process */
struct stopwatch {
    double cpu_ns, wall_ns;
    long switches;
};

static inline long kernel_switches(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

static inline struct stopwatch stopwatch_start(void)
{
    return (struct stopwatch){bench_cpu_ns(), wall_ns(), kernel_switches()};
}

/*
 * Print the processor time, elapsed time and context switches since `since`, per
 * operation.
 */
static inline void stopwatch_report(const struct stopwatch *since, double n)
{
    double cpu = bench_cpu_ns() - since->cpu_ns, wall = wall_ns() - since->wall_ns;

    figure("cpu", cpu / n);
    figure("wall", wall / n);
    figure("kernel", (double)(kernel_switches() - since->switches) / n);
}

/*
 * Return the current memory of the process, including page tables. To measure growth,
 * subtract the results of two calls.
 */
static inline double memory_now(void)
{
    return bench_status("VmRSS") + bench_status("VmPTE");
}

/*
 * Compute for this many steps, and return the result, so that the compiler cannot remove
 * the computation.
 */
static inline uint64_t compute(long steps)
{
    uint64_t x = 1;

    for (long i = 0; i < steps; i++)
        x = x * UINT64_C(6364136223846793005) + (x >> 33);
    return x;
}

/* Parse an argument as a number. */
static inline long argument(int argc, char **argv, int i)
{
    bench_must(i < argc && atol(argv[i]) > 0, "reading the arguments");
    return atol(argv[i]);
}

struct claim {
    const char *name;
    void (*run)(int argc, char **argv);
};

static inline int claims_main(int argc, char **argv, const struct claim *claims)
{
    for (const struct claim *claim = claims; argc >= 2 && claim->name != NULL; claim++) {
        if (strcmp(claim->name, argv[1]) == 0) {
            claim->run(argc, argv);
            return 0;
        }
    }
    fprintf(stderr, "usage: %s ROW [ARGUMENT...]\n", argv[0]);
    return 3;
}

#endif
