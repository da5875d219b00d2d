/*
 * libuv.c - measures libuv's timers, which have a resolution of a millisecond, and the
 * memory of a million of them. Because a timer has no stack, this is the lower bound for
 * a million sleeping tasks.
 */
#include "../../bench.h"

#include <uv.h>

static void count_down(uv_timer_t *timer)
{
    (void)timer; /* the loop ends by itself when no timer is left */
}

static uv_timer_t *arm_timers(uv_loop_t *loop, long n)
{
    uv_timer_t *timers = malloc((size_t)n * sizeof(*timers));
    uint64_t random = 1;

    bench_must(timers != NULL, "malloc");
    uv_update_time(loop);
    for (long i = 0; i < n; i++) {
        uv_timer_init(loop, &timers[i]);
        uv_timer_start(&timers[i], count_down,
                       (uint64_t)bench_delay_ns(&random) / 1000000, 0);
    }
    return timers;
}

static void run_arm(const struct bench_row *row)
{
    double start = bench_cpu_ns();

    arm_timers(uv_default_loop(), row->n);
    bench_time(row, start);
}

static void run_cancel(const struct bench_row *row)
{
    double start = bench_cpu_ns();
    uv_timer_t *timers = arm_timers(uv_default_loop(), row->n);

    for (long i = 0; i < row->n; i++)
        uv_timer_stop(&timers[i]);
    bench_time(row, start);
}

static void run_fire(const struct bench_row *row)
{
    double start = bench_cpu_ns();

    arm_timers(uv_default_loop(), row->n);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    bench_time(row, start);
}

static void run_sleeper(const struct bench_row *row)
{
    double before = bench_memory();

    arm_timers(uv_default_loop(), row->n);
    bench_report(row->name, (bench_memory() - before) / (double)row->n, "B");
}

int main(int argc, char **argv)
{
    static const struct bench_row rows[] = {
        {"timer_arm", run_arm, BENCH_TIMERS, 0},
        {"timer_cancel", run_cancel, BENCH_TIMERS, 0},
        {"timer_fire", run_fire, BENCH_TIMERS, 0},
        {"sleeper", run_sleeper, 1000000, 0},
        {0},
    };

    return bench_main(argc, argv, rows);
}
