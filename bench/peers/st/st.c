/*
 * st.c - the rows of the benchmark with State Threads. The library lacks yield and
 * queues, so this program implements them with its condition variables, which wake
 * waiters first in, first out.
 */
#include "../../bench.h"

#include <st.h>

/*
 * A yielding thread wakes the thread that yielded before it, and waits on its own
 * condition variable. If all threads waited on one condition variable, a signal would
 * have to skip threads that were woken but have not run yet.
 */
static st_cond_t waiting;

static void yield(st_cond_t mine)
{
    if (waiting != NULL)
        st_cond_signal(waiting);
    waiting = mine;
    st_cond_wait(mine);
}

static void *yield_often(void *arg)
{
    st_cond_t mine = st_cond_new();

    for (long left = (long)(intptr_t)arg; left > 0; left--)
        yield(mine);
    if (waiting != NULL)
        st_cond_signal(waiting);
    waiting = NULL;
    return NULL;
}

static void run_yield(const struct bench_row *row)
{
    st_thread_t *threads = calloc((size_t)row->shape, sizeof(st_thread_t));
    double start = bench_cpu_ns();

    bench_must(st_init() == 0, "st_init");
    for (int i = 0; i < row->shape; i++)
        threads[i] =
            st_thread_create(yield_often, (void *)(intptr_t)(row->n / row->shape), 1, 0);
    for (int i = 0; i < row->shape; i++)
        st_thread_join(threads[i], NULL);
    bench_time(row, start);
}

static void *do_nothing(void *arg)
{
    return arg;
}

static void run_spawn(const struct bench_row *row)
{
    double start = bench_cpu_ns();

    bench_must(st_init() == 0, "st_init");
    for (long i = 0; i < row->n; i++) {
        st_thread_t thread = st_thread_create(do_nothing, NULL, 1, 0);

        bench_must(thread != NULL, "st_thread_create");
        st_thread_join(thread, NULL);
    }
    bench_time(row, start);
}

/* ---- a queue ----------------------------------------------------------------------- */

struct queue {
    const struct bench_row *row;
    st_cond_t not_empty, not_full;
    int64_t items[100];
    int first, count, bound;
};

static void *produce(void *arg)
{
    struct queue *queue = arg;

    for (int64_t i = 0; i < queue->row->n; i++) {
        while (queue->count == queue->bound)
            st_cond_wait(queue->not_full);
        queue->items[(queue->first + queue->count++) % queue->bound] = i;
        st_cond_signal(queue->not_empty);
    }
    return NULL;
}

static int64_t take(struct queue *queue)
{
    int64_t item;

    while (queue->count == 0)
        st_cond_wait(queue->not_empty);
    item = queue->items[queue->first];
    queue->first = (queue->first + 1) % queue->bound;
    queue->count--;
    st_cond_signal(queue->not_full);
    return item;
}

static void run_queue(const struct bench_row *row)
{
    struct queue queue = {.row = row, .bound = row->shape};
    double start = bench_cpu_ns();

    bench_must(st_init() == 0, "st_init");
    queue.not_empty = st_cond_new();
    queue.not_full = st_cond_new();
    st_thread_create(produce, &queue, 0, 0);
    for (int64_t i = 0; i < row->n; i++)
        bench_must(take(&queue) == i, "the queue");
    bench_time(row, start);
}

/* ---- sleepers ---------------------------------------------------------------------- */

static void *sleep_long(void *arg)
{
    st_sleep(3600);
    return arg;
}

static void run_sleeper(const struct bench_row *row)
{
    double before = bench_memory();

    bench_must(st_init() == 0, "st_init");
    for (long i = 0; i < row->n; i++)
        bench_must(st_thread_create(sleep_long, NULL, 0, 0) != NULL, "st_thread_create");
    st_usleep(10000);
    bench_report(row->name, (bench_memory() - before) / (double)row->n, "B");
}

int main(int argc, char **argv)
{
    static const struct bench_row rows[] = {
        {"yield2", run_yield, 10000000, 2},
        {"yield1000", run_yield, 10000000, 1000},
        {"spawn", run_spawn, 2000000, 0},
        {"queue1", run_queue, 3000000, 1},
        {"queue100", run_queue, 10000000, 100},
        {"sleeper", run_sleeper, 1000000, 0},
        {0},
    };

    return bench_main(argc, argv, rows);
}
