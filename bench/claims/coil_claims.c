/*
 * coil_claims.c - measures the rows of docs/claims.md with coil's tasks.
 */
#include "claims.h"

#include <coil.h>
#include <coil/testing.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The arguments of a row, for its main task. */
struct row {
    long n, depth, jobs;
    bool on_threads;
};

static void run_row(coil_task_fn fn, struct row row)
{
    bench_must(coil_run(fn, &row, NULL) == 0, "coil_run");
}

/* ---- memory N: N sleeping tasks ---------------------------------------------------- */

static int sleep_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(3600));
}

static int memory_main(void *arg)
{
    const struct row *row = arg;
    double before = memory_now();

    for (long i = 0; i < row->n; i++)
        bench_must(coil_spawn(sleep_long, NULL, NULL, NULL) == 0, "coil_spawn");
    /* wait until all tasks have begun */
    bench_must(coil_sleep(COIL_MSEC(1)) == 0, "coil_sleep");
    figure("own", (memory_now() - before) / (double)row->n);
    fflush(stdout);
    _exit(0); /* exit without cancelling a million tasks */
}

static void run_memory(int argc, char **argv)
{
    run_row(memory_main, (struct row){.n = argument(argc, argv, 2)});
}

/* ---- yield N: two tasks let each other run ----------------------------------------- */

static int yield_often(void *arg)
{
    for (long left = *(const long *)arg; left > 0; left--)
        coil_yield();
    return 0;
}

/*
 * Run `fn`, which repeats its work n times, in two tasks at once. Print the time per
 * repetition.
 */
static int in_two_tasks(coil_task_fn fn, void *arg, double n)
{
    struct stopwatch watch = stopwatch_start();
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, fn, arg, NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, fn, arg, NULL, NULL);
    rc = coil_group_exit(&group, rc);
    stopwatch_report(&watch, n * 2);
    return rc;
}

static int yield_main(void *arg)
{
    struct row *row = arg;

    return in_two_tasks(yield_often, &row->n, (double)row->n);
}

static void run_yield(int argc, char **argv)
{
    run_row(yield_main, (struct row){.n = argument(argc, argv, 2)});
}

/* ---- turns N: two tasks take turns, with a semaphore each -------------------------- */

static coil_semaphore turns[2] = {COIL_SEMAPHORE_INIT(1), COIL_SEMAPHORE_INIT(0)};
static int players;

static int take_turns(void *arg)
{
    int mine = players++;

    for (long left = *(const long *)arg; left > 0; left--) {
        int rc = coil_semaphore_acquire(&turns[mine]);

        if (rc < 0)
            return rc;
        coil_semaphore_release(&turns[1 - mine]);
    }
    return 0;
}

static int turns_main(void *arg)
{
    struct row *row = arg;

    return in_two_tasks(take_turns, &row->n, (double)row->n);
}

static void run_turns(int argc, char **argv)
{
    run_row(turns_main, (struct row){.n = argument(argc, argv, 2)});
}

/* ---- depth N DEPTH: the same yields, DEPTH calls deep ------------------------------ */

static __attribute__((noinline)) int yield_below(const struct row *row, long calls)
{
    int rc;

    if (calls == 1)
        return yield_often((void *)(uintptr_t)&row->n);
    rc = yield_below(row, calls - 1);
    /* prevents a tail call, so each call has its own frame */
    __asm__ volatile("" : "+r"(rc));
    return rc;
}

static int descend(void *arg)
{
    const struct row *row = arg;

    return yield_below(row, row->depth);
}

static int depth_main(void *arg)
{
    struct row *row = arg;

    return in_two_tasks(descend, row, (double)row->n);
}

static void run_depth(int argc, char **argv)
{
    run_row(depth_main,
            (struct row){.n = argument(argc, argv, 2), .depth = argument(argc, argv, 3)});
}

/* ---- sleepers: the documents' five ------------------------------------------------- */

static int nap_count;

static int sleepy(void *arg)
{
    (void)arg;
    for (int nap = 0; nap < NAPS; nap++) {
        int rc = coil_sleep(COIL_MSEC(NAP_MS));

        if (rc < 0)
            return rc;
        nap_count++;
    }
    return 0;
}

static int sleepers_main(void *arg)
{
    int64_t begin = coil_now();
    coil_group group;
    int rc = 0;

    (void)arg;
    coil_group_enter(&group);
    for (int i = 0; i < SLEEPERS && rc == 0; i++)
        rc = coil_group_spawn(&group, sleepy, NULL, NULL, NULL);
    rc = coil_group_exit(&group, rc);
    figure("wall", (double)(coil_now() - begin));
    figure("naps", nap_count);
    return rc;
}

static void run_sleepers(int argc, char **argv)
{
    (void)argc, (void)argv;
    run_row(sleepers_main, (struct row){0});
}

static void run_sleepers_virtual(int argc, char **argv)
{
    (void)argc, (void)argv;
    bench_must(coil_testing_run(sleepers_main, NULL) == 0, "coil_testing_run");
}

/* ---- beside: a sleeper beside a descriptor that can always be read ----------------- */

static long bytes_read;

static int read_for_ever(void *arg)
{
    char bytes[1024];
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC), rc = 0;

    (void)arg;
    bench_must(fd >= 0, "/dev/urandom");
    while ((rc = coil_wait_fd(fd, COIL_READABLE)) > 0)
        bytes_read += read(fd, bytes, sizeof bytes);
    close(fd);
    return rc;
}

static int beside_main(void *arg)
{
    int64_t begin;
    coil_task *reader;
    int rc = coil_spawn(read_for_ever, NULL, NULL, &reader);

    if (rc < 0)
        return rc;
    begin = coil_now();
    rc = sleepy(arg);
    figure("wall", (double)(coil_now() - begin));
    figure("naps", nap_count);
    figure("bytes", (double)bytes_read);
    coil_task_cancel(reader, NULL);
    coil_task_await(reader);
    coil_task_release(reader);
    return rc;
}

static void run_beside(int argc, char **argv)
{
    (void)argc, (void)argv;
    run_row(beside_main, (struct row){0});
}

/* ---- compute STEPS JOBS [threads]: work for the processor -------------------------- */

static uint64_t work_sum;

static int work(void *arg)
{
    __atomic_fetch_add(&work_sum, compute(*(const long *)arg), __ATOMIC_RELAXED);
    return 0;
}

static int work_on_thread(void *arg)
{
    return coil_blocking(COIL_LANE_CPU, work, arg);
}

static int work_together(struct row *row)
{
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (long i = 0; i < row->jobs && rc == 0; i++)
        rc = coil_group_spawn(&group, row->on_threads ? work_on_thread : work, &row->n,
                              NULL, NULL);
    return coil_group_exit(&group, rc);
}

static int compute_main(void *arg)
{
    struct row *row = arg;
    double begin = wall_ns(), alone;
    uint64_t sum;
    int rc;

    for (long i = 0; i < row->jobs; i++)
        work(&row->n);
    alone = wall_ns() - begin;
    sum = work_sum;
    begin = wall_ns();
    rc = work_together(row);
    figure("alone", alone);
    figure("together", wall_ns() - begin);
    figure("right", work_sum == 2 * sum);
    return rc;
}

static void run_compute(int argc, char **argv)
{
    run_row(compute_main, (struct row){.n = argument(argc, argv, 2),
                                       .jobs = argument(argc, argv, 3),
                                       .on_threads = argc > 4});
}

int main(int argc, char **argv)
{
    static const struct claim claims[] = {
        {"memory", run_memory},
        {"yield", run_yield},
        {"turns", run_turns},
        {"depth", run_depth},
        {"sleepers", run_sleepers},
        {"sleepers-virtual", run_sleepers_virtual},
        {"beside", run_beside},
        {"compute", run_compute},
        {NULL, NULL},
    };

    return claims_main(argc, argv, claims);
}
