/*
 * libev.c - measures libev's timers. The caller owns the memory of the watchers, so
 * starting a timer allocates memory only if the heap of timers has to grow. The clock is
 * read once per turn.
 */
#include "../../bench.h"

#include <ev.h>

static long left;

static void count_down(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer, (void)events;
    if (--left == 0)
        ev_break(loop, EVBREAK_ALL);
}

static ev_timer *arm_timers(struct ev_loop *loop, long n)
{
    ev_timer *timers = malloc((size_t)n * sizeof(*timers));
    uint64_t random = 1;

    bench_must(timers != NULL, "malloc");
    ev_now_update(loop);
    for (long i = 0; i < n; i++) {
        ev_timer_init(&timers[i], count_down, (double)bench_delay_ns(&random) * 1e-9, 0);
        ev_timer_start(loop, &timers[i]);
    }
    return timers;
}

static void run_arm(const struct bench_row *row)
{
    struct ev_loop *loop = ev_default_loop(0);
    double start = bench_cpu_ns();

    arm_timers(loop, row->n);
    bench_time(row, start);
}

static void run_cancel(const struct bench_row *row)
{
    struct ev_loop *loop = ev_default_loop(0);
    double start = bench_cpu_ns();
    ev_timer *timers = arm_timers(loop, row->n);

    for (long i = 0; i < row->n; i++)
        ev_timer_stop(loop, &timers[i]);
    bench_time(row, start);
}

static void run_fire(const struct bench_row *row)
{
    struct ev_loop *loop = ev_default_loop(0);
    double start = bench_cpu_ns();

    left = row->n;
    arm_timers(loop, row->n);
    ev_run(loop, 0);
    bench_time(row, start);
}

int main(int argc, char **argv)
{
    static const struct bench_row rows[] = {
        {"timer_arm", run_arm, BENCH_TIMERS, 0},
        {"timer_cancel", run_cancel, BENCH_TIMERS, 0},
        {"timer_fire", run_fire, BENCH_TIMERS, 0},
        {0},
    };

    return bench_main(argc, argv, rows);
}
