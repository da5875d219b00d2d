/*
 * coil.c - coil's own rows. The peers' are in peers/.
 */
#include "bench.h"

#include <coil.h>

/* ---- the bare switch --------------------------------------------------------------- */

static void *swing(void *value)
{
    for (;;)
        value = coil_coro_suspend(value);
    return NULL;
}

static void run_switch(const struct bench_row *row)
{
    coil_coro *coro;
    double start;

    bench_must(coil_coro_create(swing, NULL, NULL, &coro) == 0, "coil_coro_create");
    coil_coro_resume(coro, NULL);
    start = bench_cpu_ns();
    for (long i = 0; i < row->n; i += 2)
        coil_coro_resume(coro, NULL);
    bench_time(row, start);
}

/* ---- tasks ------------------------------------------------------------------------- */

static void run_in_loop(const struct bench_row *row, coil_task_fn fn)
{
    bench_must(coil_run(fn, (void *)(uintptr_t)row, NULL) == 0, row->name);
}

static int yield_often(void *arg)
{
    for (long left = (long)(intptr_t)arg; left > 0; left--)
        coil_yield();
    return 0;
}

static int yield_main(void *arg)
{
    const struct bench_row *row = arg;
    double start = bench_cpu_ns();
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < row->shape; i++)
        coil_group_spawn(&group, yield_often, (void *)(intptr_t)(row->n / row->shape),
                         NULL, NULL);
    coil_group_exit(&group, 0);
    bench_time(row, start);
    return 0;
}

static void run_yield(const struct bench_row *row)
{
    run_in_loop(row, yield_main);
}

static int do_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static int spawn_main(void *arg)
{
    const struct bench_row *row = arg;
    double start = bench_cpu_ns();

    for (long i = 0; i < row->n; i++) {
        coil_task *task;

        bench_must(coil_spawn(do_nothing, NULL, NULL, &task) == 0, "coil_spawn");
        coil_task_await(task);
        coil_task_release(task);
    }
    bench_time(row, start);
    return 0;
}

static void run_spawn(const struct bench_row *row)
{
    run_in_loop(row, spawn_main);
}

/* ---- the queue --------------------------------------------------------------------- */

struct queue_run {
    const struct bench_row *row;
    coil_queue queue;
};

static int produce(void *arg)
{
    struct queue_run *run = arg;

    for (int64_t i = 0; i < run->row->n; i++)
        coil_queue_put(&run->queue, &i);
    return 0;
}

static int queue_main(void *arg)
{
    struct queue_run run = {.row = arg};
    coil_task *producer;
    double start;
    int64_t item = -1;

    coil_queue_init(&run.queue, sizeof item, (size_t)run.row->shape);
    start = bench_cpu_ns();
    bench_must(coil_spawn(produce, &run, NULL, &producer) == 0, "coil_spawn");
    for (int64_t i = 0; i < run.row->n; i++)
        bench_must(coil_queue_get(&run.queue, &item) == 0 && item == i, "the queue");
    bench_time(run.row, start);
    coil_task_await(producer);
    coil_task_release(producer);
    coil_queue_finish(&run.queue);
    return 0;
}

static void run_queue(const struct bench_row *row)
{
    run_in_loop(row, queue_main);
}

/* ---- timers ------------------------------------------------------------------------ */

struct timer_run {
    const struct bench_row *row;
    coil_task *task;
    long left;
};

static void count_down(void *arg)
{
    struct timer_run *run = arg;

    if (--run->left == 0)
        coil_unpark(run->task, 0);
}

static coil_timer *arm_timers(struct timer_run *run)
{
    coil_timer *timers = malloc((size_t)run->row->n * sizeof(*timers));
    uint64_t random = 1;
    int64_t now = coil_now();

    bench_must(timers != NULL, "malloc");
    run->left = run->row->n;
    for (long i = 0; i < run->row->n; i++) {
        coil_timer_init(&timers[i], count_down, run);
        bench_must(coil_timer_start(&timers[i], now + bench_delay_ns(&random)) == 0,
                   "coil_timer_start");
    }
    return timers;
}

static int arm_main(void *arg)
{
    struct timer_run run = {.row = arg};
    double start = bench_cpu_ns();

    arm_timers(&run);
    bench_time(run.row, start);
    _Exit(0);
}

static int cancel_main(void *arg)
{
    struct timer_run run = {.row = arg};
    double start = bench_cpu_ns();
    coil_timer *timers = arm_timers(&run);

    for (long i = 0; i < run.row->n; i++)
        coil_timer_stop(&timers[i]);
    bench_time(run.row, start);
    free(timers);
    return 0;
}

static int fire_main(void *arg)
{
    struct timer_run run = {.row = arg, .task = coil_task_current()};
    double start = bench_cpu_ns();
    coil_timer *timers = arm_timers(&run);

    coil_park();
    bench_time(run.row, start);
    free(timers);
    return 0;
}

/* The same with coil_call_later()'s handles, which are allocated. */
static int handle_main(void *arg)
{
    struct timer_run run = {.row = arg};
    double start = bench_cpu_ns();
    coil_handle **handles = malloc((size_t)run.row->n * sizeof(coil_handle *));
    uint64_t random = 1;
    int64_t now = coil_now();

    bench_must(handles != NULL, "malloc");
    for (long i = 0; i < run.row->n; i++)
        bench_must(coil_call_at(now + bench_delay_ns(&random), count_down, &run,
                                &handles[i]) == 0,
                   "coil_call_at");
    for (long i = 0; i < run.row->n; i++) {
        coil_handle_cancel(handles[i]);
        coil_handle_release(handles[i]);
    }
    bench_time(run.row, start);
    free(handles);
    return 0;
}

static void run_call_cancel(const struct bench_row *row)
{
    run_in_loop(row, handle_main);
}

static void run_timer_arm(const struct bench_row *row)
{
    run_in_loop(row, arm_main);
}

static void run_timer_cancel(const struct bench_row *row)
{
    run_in_loop(row, cancel_main);
}

static void run_timer_fire(const struct bench_row *row)
{
    run_in_loop(row, fire_main);
}

/* ---- sleepers ---------------------------------------------------------------------- */

static int sleep_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(3600));
}

static int sleeper_main(void *arg)
{
    const struct bench_row *row = arg;
    double before = bench_memory();

    for (long i = 0; i < row->n; i++)
        bench_must(coil_spawn(sleep_long, NULL, NULL, NULL) == 0, "coil_spawn");
    coil_sleep(COIL_SEC(1) / 100); /* they take their first step */
    bench_report(row->name, (bench_memory() - before) / (double)row->n, "B");
    _Exit(0);
}

static void run_sleeper(const struct bench_row *row)
{
    run_in_loop(row, sleeper_main);
}

int main(int argc, char **argv)
{
    static const struct bench_row rows[] = {
        {"switch", run_switch, 40000000, 0},
        {"yield1", run_yield, 10000000, 1},
        {"yield2", run_yield, 10000000, 2},
        {"yield1000", run_yield, 10000000, 1000},
        {"spawn", run_spawn, 2000000, 0},
        {"queue1", run_queue, 3000000, 1},
        {"queue100", run_queue, 10000000, 100},
        {"timer_arm", run_timer_arm, BENCH_TIMERS, 0},
        {"timer_cancel", run_timer_cancel, BENCH_TIMERS, 0},
        {"timer_fire", run_timer_fire, BENCH_TIMERS, 0},
        {"call_cancel", run_call_cancel, BENCH_TIMERS, 0},
        {"sleeper", run_sleeper, 1000000, 0},
        {0},
    };

    return bench_main(argc, argv, rows);
}
