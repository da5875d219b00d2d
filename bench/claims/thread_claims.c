/*
 * thread_claims.c - measures the rows of docs/claims.md with POSIX threads.
 *
 * STACKS. A thread has the C library's default stack, 8 MiB of address space. A thread
 * takes the memory of the touched pages of its stack, and of a page table, because such
 * large stacks cannot share page tables. The kernel's own stack for the thread takes
 * another 16 KiB, which no figure of the process includes.
 */
#include "claims.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <unistd.h>

#define KERNEL_STACK 16384 /* x86-64 and aarch64 */

/* ---- starting and joining ---------------------------------------------------------- */

static void pin_to_first(void)
{
    cpu_set_t set;
    int cpu = 0;

    bench_must(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    bench_must(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

/* Run `body` on n threads, and wait until all threads have ended. */
static void on_threads(long n, void *(*body)(void *), void *arg)
{
    pthread_t threads[64];

    bench_must(n <= 64, "so many threads");
    for (long i = 0; i < n; i++)
        bench_must(pthread_create(&threads[i], NULL, body, arg) == 0, "pthread_create");
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* ---- memory N: N sleeping threads -------------------------------------------------- */

static sem_t begun;

static void *sleep_long(void *arg)
{
    (void)arg;
    sem_post(&begun);
    sleep(3600);
    return NULL;
}

/* Start up to `most` sleeping threads. Returns the number of started threads. */
static long start_sleepers(long most, int *error)
{
    pthread_t thread;
    long n = 0;

    *error = 0;
    while (n < most && (*error = pthread_create(&thread, NULL, sleep_long, NULL)) == 0)
        n++;
    for (long i = 0; i < n; i++)
        while (sem_wait(&begun) < 0)
            ;
    return n;
}

static void run_memory(int argc, char **argv)
{
    long n = argument(argc, argv, 2);
    double before = memory_now(), own;
    int error;

    bench_must(start_sleepers(n, &error) == n, "starting that many threads");
    own = (memory_now() - before) / (double)n;
    figure("own", own);
    figure("kernel", KERNEL_STACK);
    _exit(0);
}

/*
 * ---- ceiling MOST: the largest number of threads --------------------------------------
 *
 * Start threads until an error occurs, or until there are MOST threads, which is the
 * number that the machine can spare. Print the number of threads, and the error (0 if
 * there was none).
 */
static void run_ceiling(int argc, char **argv)
{
    int error;
    long n = start_sleepers(argument(argc, argv, 2), &error);

    figure("threads", (double)n);
    figure("error", error);
    _exit(0);
}

/* ---- yield N: two threads let each other run, on one processor --------------------- */

static long times;

static void *yield_often(void *arg)
{
    (void)arg;
    for (long left = times; left > 0; left--)
        sched_yield();
    return NULL;
}

static void run_yield(int argc, char **argv)
{
    struct stopwatch watch;

    times = argument(argc, argv, 2);
    pin_to_first();
    watch = stopwatch_start();
    on_threads(2, yield_often, NULL);
    stopwatch_report(&watch, (double)times * 2);
}

/* ---- turns N [apart]: two threads take turns, with a semaphore each ---------------- */

static sem_t turns[2];
static int players;

static void *take_turns(void *arg)
{
    int mine = __atomic_fetch_add(&players, 1, __ATOMIC_RELAXED);

    (void)arg;
    for (long left = times; left > 0; left--) {
        while (sem_wait(&turns[mine]) < 0)
            ;
        sem_post(&turns[1 - mine]);
    }
    return NULL;
}

static void run_turns(int argc, char **argv)
{
    struct stopwatch watch;

    times = argument(argc, argv, 2);
    sem_init(&turns[0], 0, 1);
    sem_init(&turns[1], 0, 0);
    if (argc < 4)
        pin_to_first();
    watch = stopwatch_start();
    on_threads(2, take_turns, NULL);
    stopwatch_report(&watch, (double)times * 2);
}

/* ---- sleepers: the documents' five ------------------------------------------------- */

static int nap_count;

static void *sleepy(void *arg)
{
    (void)arg;
    for (int nap = 0; nap < NAPS; nap++) {
        nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
        __atomic_fetch_add(&nap_count, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void run_sleepers(int argc, char **argv)
{
    double begin = wall_ns();

    (void)argc, (void)argv;
    on_threads(SLEEPERS, sleepy, NULL);
    figure("wall", wall_ns() - begin);
    figure("naps", nap_count);
}

/* Run the sleepers one after another. */
static void run_sleepers_in_line(int argc, char **argv)
{
    double begin = wall_ns();

    (void)argc, (void)argv;
    for (int i = 0; i < SLEEPERS; i++)
        sleepy(NULL);
    figure("wall", wall_ns() - begin);
    figure("naps", nap_count);
}

/* ---- compute STEPS JOBS: work for the processor ------------------------------------ */

static uint64_t work_sum;

static void *work(void *arg)
{
    __atomic_fetch_add(&work_sum, compute(*(const long *)arg), __ATOMIC_RELAXED);
    return NULL;
}

static void run_compute(int argc, char **argv)
{
    long steps = argument(argc, argv, 2), jobs = argument(argc, argv, 3);
    double begin = wall_ns();
    uint64_t sum;

    for (long i = 0; i < jobs; i++)
        work(&steps);
    figure("alone", wall_ns() - begin);
    sum = work_sum;
    begin = wall_ns();
    on_threads(jobs, work, &steps);
    figure("together", wall_ns() - begin);
    figure("right", work_sum == 2 * sum);
}

int main(int argc, char **argv)
{
    static const struct claim claims[] = {
        {"memory", run_memory},     {"ceiling", run_ceiling},
        {"yield", run_yield},       {"turns", run_turns},
        {"sleepers", run_sleepers}, {"sleepers-in-line", run_sleepers_in_line},
        {"compute", run_compute},   {NULL, NULL},
    };

    return claims_main(argc, argv, claims);
}
