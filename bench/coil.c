/*
 * coil.c - measures each row with coil. The programs for the peers are in peers/.
 */
#include "bench.h"

#include <coil.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

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
        bench_must(coil_group_spawn(&group, yield_often,
                                    (void *)(intptr_t)(row->n / row->shape), NULL,
                                    NULL) == 0,
                   "coil_group_spawn");
    coil_group_exit(&group, 0);
    bench_time(row, start);
    return 0;
}

static int traced_yield_main(void *arg)
{
    bench_must(coil_trace_start(0) == 0, "coil_trace_start");
    return yield_main(arg);
}

static void run_traced_yield(const struct bench_row *row)
{
    run_in_loop(row, traced_yield_main);
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

/* ---- awaiting ---------------------------------------------------------------------- */

static int await_done_main(void *arg)
{
    const struct bench_row *row = arg;
    coil_future *future;
    double start;

    bench_must(coil_future_create(&future) == 0, "coil_future_create");
    coil_future_set(future, 1, NULL, NULL);
    start = bench_cpu_ns();
    for (long i = 0; i < row->n; i++)
        bench_must(coil_await(future) == 1, "coil_await");
    bench_time(row, start);
    coil_future_release(future);
    return 0;
}

/*
 * Send a byte, and read it after it has arrived. Half of the time is spent in the
 * write(2) that sends it.
 */
static int stream_read_main(void *arg)
{
    const struct bench_row *row = arg;
    coil_stream *stream;
    char byte = 1;
    int ends[2];
    double start;

    bench_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    bench_must(coil_stream_adopt(ends[0], &stream) == 0, "coil_stream_adopt");
    start = bench_cpu_ns();
    for (long i = 0; i < row->n; i++) {
        bench_must(write(ends[1], &byte, 1) == 1, "write");
        bench_must(coil_read(stream, &byte, 1) == 1, "coil_read");
    }
    bench_time(row, start);
    coil_stream_destroy(stream);
    close(ends[1]);
    return 0;
}

static void run_stream_read(const struct bench_row *row)
{
    run_in_loop(row, stream_read_main);
}

static int await_next(void *arg)
{
    return coil_await(arg);
}

/* Repeatedly set a future at the end of a chain of tasks that await each other. */
static int await_chain_main(void *arg)
{
    const struct bench_row *row = arg;
    coil_task **chain = malloc((size_t)row->shape * sizeof(coil_task *));
    double took = 0;

    bench_must(chain != NULL, "malloc");
    for (long round = 0; round < row->n / row->shape; round++) {
        coil_future *end, *next;
        double start;

        bench_must(coil_future_create(&end) == 0, "coil_future_create");
        next = end;
        for (int i = 0; i < row->shape; i++) {
            bench_must(coil_spawn(await_next, next, NULL, &chain[i]) == 0, "coil_spawn");
            next = coil_task_future(chain[i]);
        }
        coil_yield();
        start = bench_cpu_ns();
        coil_future_set(end, 1, NULL, NULL);
        bench_must(coil_await(next) == 1, "coil_await");
        took += bench_cpu_ns() - start;
        for (int i = 0; i < row->shape; i++)
            coil_task_release(chain[i]);
        coil_future_release(end);
    }
    bench_report(row->name, took / (double)row->n, "ns");
    free(chain);
    return 0;
}

static int gather_main(void *arg)
{
    const struct bench_row *row = arg;
    coil_task *tasks[100];
    coil_future *futures[100];
    double start = bench_cpu_ns();

    for (long round = 0; round < row->n / 100; round++) {
        for (int i = 0; i < 100; i++) {
            bench_must(coil_spawn(do_nothing, NULL, NULL, &tasks[i]) == 0, "coil_spawn");
            futures[i] = coil_task_future(tasks[i]);
        }
        bench_must(coil_gather(futures, 100, 0, NULL) == 0, "coil_gather");
        for (int i = 0; i < 100; i++)
            coil_task_release(tasks[i]);
    }
    bench_time(row, start);
    return 0;
}

static void run_await_done(const struct bench_row *row)
{
    run_in_loop(row, await_done_main);
}

static void run_await_chain(const struct bench_row *row)
{
    run_in_loop(row, await_chain_main);
}

static void run_gather(const struct bench_row *row)
{
    run_in_loop(row, gather_main);
}

/* ---- passing a lock, passing an item ----------------------------------------------- */

struct lock_run {
    coil_lock lock;
    long turns;
};

/* The task that holds the lock yields, so that the other tasks wait for the lock. */
static int take_turns(void *arg)
{
    struct lock_run *run = arg;

    for (long left = run->turns; left > 0; left--) {
        bench_must(coil_lock_acquire(&run->lock) == 0, "coil_lock_acquire");
        coil_yield();
        coil_lock_release(&run->lock);
    }
    return 0;
}

static int lock_main(void *arg)
{
    const struct bench_row *row = arg;
    struct lock_run run = {COIL_LOCK_INIT, row->n / row->shape};
    double start = bench_cpu_ns();
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < row->shape; i++)
        bench_must(coil_group_spawn(&group, take_turns, &run, NULL, NULL) == 0,
                   "coil_group_spawn");
    coil_group_exit(&group, 0);
    bench_time(row, start);
    return 0;
}

static int consume(void *arg)
{
    int64_t item;

    while (coil_queue_get(arg, &item) == 0)
        ;
    return 0;
}

/* All consumers wait, and each item wakes one of them. */
static int handover_main(void *arg)
{
    const struct bench_row *row = arg;
    coil_queue queue;
    coil_group group;
    double start;

    coil_queue_init(&queue, sizeof(int64_t), 0);
    coil_group_enter(&group);
    for (int i = 0; i < row->shape; i++)
        bench_must(coil_group_spawn(&group, consume, &queue, NULL, NULL) == 0,
                   "coil_group_spawn");
    coil_yield();
    start = bench_cpu_ns();
    for (int64_t i = 0; i < row->n; i++) {
        bench_must(coil_queue_put(&queue, &i) == 0, "coil_queue_put");
        coil_yield();
    }
    bench_time(row, start);
    coil_queue_shutdown(&queue, false);
    coil_group_exit(&group, 0);
    coil_queue_finish(&queue);
    return 0;
}

static void run_lock(const struct bench_row *row)
{
    run_in_loop(row, lock_main);
}

static void run_handover(const struct bench_row *row)
{
    run_in_loop(row, handover_main);
}

/* ---- deadlines --------------------------------------------------------------------- */

static int timeout_main(void *arg)
{
    const struct bench_row *row = arg;
    double start = bench_cpu_ns();

    for (long i = 0; i < row->n; i++) {
        coil_scope scope;

        bench_must(coil_scope_enter(&scope, coil_in(COIL_SEC(10))) == 0,
                   "coil_scope_enter");
        coil_scope_exit(&scope, 0);
    }
    bench_time(row, start);
    return 0;
}

static void run_timeout(const struct bench_row *row)
{
    run_in_loop(row, timeout_main);
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

/* Arm and cancel timers with coil_call_at(), which allocates a handle for each timer. */
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

enum { ORDINARY, LIGHT, LIGHT_AFTER_DEPTH };

static int sleep_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(3600));
}

static __attribute__((noinline)) void go_deep(void)
{
    volatile char frame[20 * 1024];

    for (size_t i = 0; i < sizeof frame; i += 1024)
        frame[i] = 1;
}

static int go_deep_and_sleep(void *arg)
{
    go_deep();
    return sleep_long(arg);
}

static int sleeper_main(void *arg)
{
    const struct bench_row *row = arg;
    coil_task_fn fn = row->shape == LIGHT_AFTER_DEPTH ? go_deep_and_sleep : sleep_long;
    coil_spawn_opts opts = {.light =
                                row->shape == ORDINARY ? COIL_NOT_LIGHT : COIL_LIGHT};
    double before = bench_memory();

    for (long i = 0; i < row->n; i++)
        bench_must(coil_spawn(fn, NULL, &opts, NULL) == 0, "coil_spawn");
    coil_sleep(COIL_SEC(1) / 100); /* wait until all tasks have begun */
    bench_report(row->name, (bench_memory() - before) / (double)row->n, "B");
    _Exit(0);
}

static void run_sleeper(const struct bench_row *row)
{
    run_in_loop(row, sleeper_main);
}

/* ---- a run ------------------------------------------------------------------------- */

static void run_nothing(const struct bench_row *row)
{
    double start = bench_cpu_ns();

    for (long i = 0; i < row->n; i++)
        bench_must(coil_run(do_nothing, NULL, NULL) == 0, "coil_run");
    bench_report(row->name, (bench_cpu_ns() - start) / (double)row->n / 1e3, "us");
}

/* ---- between threads --------------------------------------------------------------- */

struct post_run {
    const struct bench_row *row;
    coil_loop *loop;
    coil_task *task;
    long left;
};

static void count_post(void *arg)
{
    struct post_run *run = arg;

    if (--run->left == 0)
        coil_unpark(run->task, 0);
}

static void *post_all(void *arg)
{
    struct post_run *run = arg;

    for (long i = run->row->n; i > 0; i--)
        bench_must(coil_post(run->loop, count_post, run) == 0, "coil_post");
    return NULL;
}

static int post_main(void *arg)
{
    const struct bench_row *row = arg;
    struct post_run run = {row, coil_loop_current(), coil_task_current(), row->n};
    double start = bench_cpu_ns();
    pthread_t thread;

    bench_must(pthread_create(&thread, NULL, post_all, &run) == 0, "pthread_create");
    coil_park();
    pthread_join(thread, NULL);
    bench_time(row, start);
    return 0;
}

static void run_post(const struct bench_row *row)
{
    run_in_loop(row, post_main);
}

/* data that two loops on two threads share */
struct pair_run {
    const struct bench_row *row;
    coil_channel *channel;
    _Atomic(coil_loop *) second;
    coil_stream *moved; /* the stream that each task takes to the other loop, or NULL */
    double start;
};

static void run_pair(struct pair_run *run, coil_task_fn fn)
{
    run->start = bench_cpu_ns();
    bench_must(coil_run_threads(2, fn, run, NULL) == 0, run->row->name);
    bench_time(run->row, run->start);
}

/*
 * Run on the other loop: attach the stream to that loop, if there is a stream, and detach
 * it again.
 */
static int visit(void *arg)
{
    const struct pair_run *run = arg;

    if (run->moved == NULL)
        return 0;
    bench_must(coil_stream_attach(run->moved) == 0, "coil_stream_attach");
    return coil_stream_detach(run->moved);
}

static int serve_or_ask(void *arg)
{
    struct pair_run *run = arg;
    coil_promise *promise;

    if (coil_thread_index() == 1) {
        run->second = coil_loop_retain(coil_loop_current());
        return coil_channel_get(run->channel, &(char){0});
    }
    while (run->second == NULL)
        coil_sleep(COIL_MSEC(1));
    for (long i = run->row->n; i > 0; i--) {
        if (run->moved != NULL)
            bench_must(coil_stream_detach(run->moved) == 0, "coil_stream_detach");
        bench_must(coil_spawn_threadsafe(run->second, visit, run, NULL, &promise) == 0,
                   "coil_spawn_threadsafe");
        bench_must(coil_promise_await(promise) == 0, "coil_promise_await");
        coil_promise_release(promise);
        if (run->moved != NULL)
            bench_must(coil_stream_attach(run->moved) == 0, "coil_stream_attach");
    }
    coil_loop_release(run->second);
    return coil_channel_put(run->channel, &(char){0});
}

/* Spawn tasks on another thread's loop, and await the promises of their results. */
static void run_promise(const struct bench_row *row)
{
    struct pair_run run = {.row = row};

    bench_must(coil_channel_create(1, 1, &run.channel) == 0, "coil_channel_create");
    run_pair(&run, serve_or_ask);
    coil_channel_release(run.channel);
}

static int move_a_stream(void *arg)
{
    struct pair_run *run = arg;
    coil_stream *ends[2];
    int rc;

    if (coil_thread_index() == 1)
        return serve_or_ask(run);
    bench_must(coil_stream_pair(ends) == 0, "coil_stream_pair");
    run->moved = ends[0];
    rc = serve_or_ask(run);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return rc;
}

/*
 * Like `promise`, but each task moves a stream to the other loop and back, which is two
 * moves.
 */
static void run_stream_move(const struct bench_row *row)
{
    struct pair_run run = {.row = row};

    bench_must(coil_channel_create(1, 1, &run.channel) == 0, "coil_channel_create");
    run_pair(&run, move_a_stream);
    coil_channel_release(run.channel);
}

static int put_or_get_all(void *arg)
{
    const struct pair_run *run = arg;
    bool gets = coil_thread_index() == 1;

    for (int64_t i = 0, item; i < run->row->n; i++)
        if (gets)
            bench_must(coil_channel_get(run->channel, &item) == 0 && item == i, "get");
        else
            bench_must(coil_channel_put(run->channel, &i) == 0, "put");
    return 0;
}

static void run_channel(const struct bench_row *row)
{
    struct pair_run run = {.row = row};

    bench_must(coil_channel_create(sizeof(int64_t), (size_t)row->shape, &run.channel) ==
                   0,
               "coil_channel_create");
    run_pair(&run, put_or_get_all);
    coil_channel_release(run.channel);
}

int main(int argc, char **argv)
{
    static const struct bench_row rows[] = {
        {"switch", run_switch, 40000000, 0},
        {"yield1", run_yield, 10000000, 1},
        {"yield2", run_yield, 10000000, 2},
        {"yield1000", run_yield, 10000000, 1000},
        {"traced_yield2", run_traced_yield, 10000000, 2},
        {"spawn", run_spawn, 2000000, 0},
        {"queue1", run_queue, 3000000, 1},
        {"queue100", run_queue, 10000000, 100},
        {"await_done", run_await_done, 50000000, 0},
        {"stream_read", run_stream_read, 1000000, 0},
        {"await_chain", run_await_chain, 2000000, 1000},
        {"gather100", run_gather, 2000000, 0},
        {"lock", run_lock, 5000000, 2},
        {"handover", run_handover, 5000000, 100},
        {"timeout", run_timeout, 5000000, 0},
        {"timer_arm", run_timer_arm, BENCH_TIMERS, 0},
        {"timer_cancel", run_timer_cancel, BENCH_TIMERS, 0},
        {"timer_fire", run_timer_fire, BENCH_TIMERS, 0},
        {"call_cancel", run_call_cancel, BENCH_TIMERS, 0},
        {"sleeper", run_sleeper, 1000000, ORDINARY},
        {"sleeper_light", run_sleeper, 1000000, LIGHT},
        {"sleeper_deep", run_sleeper, 1000000, LIGHT_AFTER_DEPTH},
        {"run", run_nothing, 5000, 0},
        {"post", run_post, 3000000, 0},
        {"promise", run_promise, 20000, 0},
        {"stream_move", run_stream_move, 20000, 0},
        {"channel1", run_channel, 50000, 1},
        {"channel100", run_channel, 2000000, 100},
        {0},
    };

    return bench_main(argc, argv, rows);
}
