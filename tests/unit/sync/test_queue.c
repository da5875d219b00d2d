/*
 * test_queue.c - passing items from task to task. (docs/seeds.md, row 99)
 */
#include "../../harness/harness.h"

#include <coil.h>

static const char *name(void)
{
    return coil_task_name(coil_task_current());
}

struct putting {
    coil_queue *q;
    int item;
};

static int put_one(void *arg)
{
    struct putting *p = arg;
    int rc = coil_queue_put(p->q, &p->item);

    test_trace("put %d:%d ", p->item, rc);
    return rc == -ESHUTDOWN ? 0 : rc;
}

static int get_one(void *arg)
{
    int item = -1, rc = coil_queue_get(arg, &item);

    test_trace("%s got %d:%d ", name(), item, rc);
    return rc == -ESHUTDOWN ? 0 : rc;
}

TASK_TEST(queue_gives_items_in_order_and_grows)
{
    coil_queue q;
    int item;

    coil_queue_init(&q, sizeof item, 0);
    CHECK_INT(coil_queue_get_nowait(&q, &item), -EAGAIN);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++)
            CHECK_INT(coil_queue_put(&q, &i), 0);
        CHECK_INT(coil_queue_count(&q), 1000);
        for (int i = 0; i < 1000; i++) {
            CHECK_INT(coil_queue_get(&q, &item), 0);
            CHECK_INT(item, i);
        }
        CHECK(coil_queue_empty(&q));
    }
    coil_queue_finish(&q);
}

TASK_TEST(queue_ring_wraps_and_grows_while_wrapped)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 0);
    int next_in = 0, next_out = 0, item;

    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 7; i++, next_in++)
            CHECK_INT(coil_queue_put_nowait(&q, &next_in), 0);
        for (int i = 0; i < 5; i++, next_out++) {
            CHECK_INT(coil_queue_get_nowait(&q, &item), 0);
            CHECK_INT(item, next_out);
        }
    }
    coil_queue_finish(&q);
}

TASK_TEST(queue_put_suspends_while_full)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 1);
    struct putting p[3] = {{&q, 1}, {&q, 2}, {&q, 3}};
    int item;

    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_spawn(put_one, &p[i], NULL, NULL), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_TRACE("put 1:0 ");
    CHECK(coil_queue_full(&q));
    CHECK_INT(coil_queue_put_nowait(&q, &(int){9}), -EAGAIN);
    for (int i = 1; i <= 3; i++) {
        CHECK_INT(coil_queue_get(&q, &item), 0);
        CHECK_INT(item, i);
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    }
    CHECK_TRACE("put 2:0 put 3:0 ");
    coil_queue_finish(&q);
}

TASK_TEST(queue_get_suspends_while_empty_first_come_first_served)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 0);

    for (int i = 0; i < 3; i++)
        coil_spawn(get_one, &q, &(coil_spawn_opts){.name = (char[]){(char)('a' + i), 0}},
                   NULL);
    coil_yield();
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_queue_put(&q, &i), 0);
    CHECK_INT(coil_sleep(1), 0);
    CHECK_TRACE("a got 0:0 b got 1:0 c got 2:0 ");
    coil_queue_finish(&q);
}

TASK_TEST(queue_getter_cancelled_in_the_turn_it_was_woken_wakes_the_next)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 0);
    coil_task *a, *b;

    coil_spawn(get_one, &q, &(coil_spawn_opts){.name = "a"}, &a);
    coil_spawn(get_one, &q, &(coil_spawn_opts){.name = "b"}, &b);
    coil_yield();
    CHECK_INT(coil_queue_put_nowait(&q, &(int){5}), 0);
    CHECK(coil_task_cancel(a, NULL));
    CHECK_INT(coil_task_await(a), -ECANCELED);
    CHECK_INT(coil_task_await(b), 0);
    CHECK_TRACE("a got -1:-125 b got 5:0 ");
    coil_task_release(a);
    coil_task_release(b);
    coil_queue_finish(&q);
}

TASK_TEST(queue_putter_cancelled_puts_nothing)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 1);
    struct putting p[3] = {{&q, 1}, {&q, 2}, {&q, 3}};
    coil_task *t[3];
    int item;

    for (int i = 0; i < 3; i++)
        coil_spawn(put_one, &p[i], NULL, &t[i]);
    coil_yield();
    CHECK_INT(coil_queue_get_nowait(&q, &item), 0); /* wakes the task that puts 2 */
    coil_task_cancel(t[1], NULL);
    CHECK_INT(coil_task_await(t[1]), -ECANCELED);
    CHECK_INT(coil_task_await(t[2]), 0);
    CHECK_INT(coil_queue_get_nowait(&q, &item), 0);
    CHECK_INT(item, 3);
    CHECK_TRACE("put 1:0 put 2:-125 put 3:0 ");
    for (int i = 0; i < 3; i++)
        coil_task_release(t[i]);
    coil_queue_finish(&q);
}

static int worker(void *arg)
{
    coil_queue *q = arg;
    int item, rc;

    while ((rc = coil_queue_get(q, &item)) == 0) {
        rc = coil_sleep(COIL_MSEC(item));
        if (rc < 0)
            break;
        test_trace("%d ", item);
        coil_queue_task_done(q);
    }
    return rc;
}

TASK_TEST(queue_join_waits_until_everything_is_done_and_again)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 0);
    coil_task *t[2];

    CHECK_INT(coil_queue_join(&q), 0); /* nothing was put */
    for (int i = 0; i < 2; i++)
        coil_spawn(worker, &q, NULL, &t[i]);
    for (int round = 0; round < 2; round++) {
        int64_t begin = coil_now();

        for (int i = 1; i <= 4; i++)
            coil_queue_put_nowait(&q, &i);
        CHECK_INT(coil_queue_join(&q), 0);
        CHECK_INT(coil_now() - begin, COIL_MSEC(6));
        CHECK_TRACE("1 2 3 4 ");
    }
    for (int i = 0; i < 2; i++) {
        coil_task_cancel(t[i], NULL);
        CHECK_INT(coil_task_await(t[i]), -ECANCELED);
        coil_task_release(t[i]);
    }
    CHECK_INT(coil_queue_task_done(&q), -EINVAL);
    coil_queue_finish(&q);
}

TASK_TEST(queue_shutdown_lets_it_run_empty)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 0);
    int item;

    coil_spawn(get_one, &q, &(coil_spawn_opts){.name = "a"}, NULL);
    coil_yield();
    coil_queue_shutdown(&q, false);
    coil_sleep(1);
    CHECK_TRACE("a got -1:-108 ");
    coil_queue_finish(&q);

    q = (coil_queue)COIL_QUEUE_INIT(sizeof(int), 0);
    coil_queue_put_nowait(&q, &(int){1});
    coil_queue_shutdown(&q, false);
    CHECK_INT(coil_queue_put(&q, &(int){2}), -ESHUTDOWN);
    CHECK_INT(coil_queue_get(&q, &item), 0);
    CHECK_INT(coil_queue_get(&q, &item), -ESHUTDOWN);
    coil_queue_finish(&q);
}

static int join(void *arg)
{
    int rc = coil_queue_join(arg);

    test_trace("joined:%d ", rc);
    return rc;
}

TASK_TEST(queue_shutdown_immediate_empties_and_unblocks_join_and_putters)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 2);
    struct putting p = {&q, 3};
    int item;

    coil_queue_put_nowait(&q, &(int){1});
    coil_queue_put_nowait(&q, &(int){2});
    coil_spawn(join, &q, NULL, NULL);
    coil_spawn(put_one, &p, NULL, NULL);
    coil_yield();
    coil_queue_shutdown(&q, true);
    coil_sleep(1);
    CHECK_TRACE("joined:0 put 3:-108 ");
    CHECK_INT(coil_queue_get_nowait(&q, &item), -ESHUTDOWN);
    coil_queue_finish(&q);
}

TASK_TEST(queue_without_memory_puts_nothing)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 0);
    int item = 1;

    test_fail_allocation(1);
    CHECK_INT(coil_queue_put(&q, &item), -ENOMEM);
    CHECK_INT(coil_queue_count(&q), 0);
    CHECK_INT(coil_queue_join(&q), 0);
    CHECK_INT(coil_queue_put(&q, &item), 0);
    coil_queue_finish(&q);
    coil_queue_finish(NULL);
    q = (coil_queue){.items = NULL};
    coil_queue_finish(&q);
}

/* ---- the other orders -------------------------------------------------------------- */

struct job {
    int urgency;
    char payload[20];
};

static int compare_jobs(const void *a, const void *b)
{
    const struct job *x = a, *y = b;

    return (x->urgency > y->urgency) - (x->urgency < y->urgency);
}

TASK_TEST(queue_lifo_gives_the_newest_first_and_grows)
{
    coil_queue q = COIL_QUEUE_INIT_LIFO(sizeof(int), 0);
    int item;

    for (int i = 0; i < 100; i++)
        CHECK_INT(coil_queue_put(&q, &i), 0);
    for (int i = 99; i >= 50; i--) {
        CHECK_INT(coil_queue_get(&q, &item), 0);
        CHECK_INT(item, i);
    }
    CHECK_INT(coil_queue_put(&q, &(int){7}), 0);
    CHECK_INT(coil_queue_get(&q, &item), 0);
    CHECK_INT(item, 7);
    CHECK_INT(coil_queue_count(&q), 50);
    coil_queue_finish(&q);
}

TASK_TEST(queue_priority_gives_the_least_first_whatever_the_order_of_putting)
{
    coil_queue q;
    struct job job = {0, "carried along"};
    unsigned random = 1;
    int last = -1;

    coil_queue_init_priority(&q, sizeof job, 0, compare_jobs);
    for (int i = 0; i < 1000; i++) {
        random = random * 1103515245 + 12345;
        job.urgency = (int)(random >> 16) % 300;
        CHECK_INT(coil_queue_put(&q, &job), 0);
    }
    for (int i = 0; i < 1000; i++) {
        memset(&job, 0, sizeof job);
        CHECK_INT(coil_queue_get(&q, &job), 0);
        CHECK(job.urgency >= last);
        CHECK_STR(job.payload, "carried along");
        last = job.urgency;
    }
    CHECK(coil_queue_empty(&q));
    coil_queue_finish(&q);
}

TASK_TEST(queue_priority_puts_and_gets_in_between)
{
    coil_queue q = COIL_QUEUE_INIT_PRIORITY(sizeof(struct job), 4, compare_jobs);
    static const int in[] = {5, 1, 4, 2};
    struct job job = {0, ""};

    CHECK_INT(coil_queue_maxsize(&q), 4);
    for (int i = 0; i < 4; i++) {
        job.urgency = in[i];
        CHECK_INT(coil_queue_put_nowait(&q, &job), 0);
    }
    CHECK_INT(coil_queue_put_nowait(&q, &job), -EAGAIN);
    coil_queue_get(&q, &job);
    CHECK_INT(job.urgency, 1);
    job.urgency = 3;
    CHECK_INT(coil_queue_put_nowait(&q, &job), 0);
    for (int i = 2; i <= 5; i++) {
        coil_queue_get(&q, &job);
        CHECK_INT(job.urgency, i);
    }
    CHECK_INT(coil_queue_get_nowait(&q, &job), -EAGAIN);
    coil_queue_finish(&q);
}

TASK_TEST(queue_lifo_wakes_getters_in_fifo_order_and_counts_tasks)
{
    coil_queue q;
    coil_task *joiner;

    coil_queue_init_lifo(&q, sizeof(int), 0);
    for (int i = 0; i < 2; i++)
        coil_spawn(get_one, &q, &(coil_spawn_opts){.name = (char[]){(char)('a' + i), 0}},
                   NULL);
    coil_yield();
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_queue_put(&q, &i), 0);
    coil_yield();
    CHECK_TRACE("a got 2:0 b got 1:0 ");
    CHECK_INT(coil_spawn(join, &q, NULL, &joiner), 0);
    coil_queue_task_done(&q);
    coil_queue_task_done(&q);
    coil_yield();
    CHECK_TRACE("");
    coil_queue_shutdown(&q, true);
    CHECK_INT(coil_task_await(joiner), 0);
    CHECK_TRACE("joined:0 ");
    coil_task_release(joiner);
    coil_queue_finish(&q);
}

/* ---- returns ----------------------------------------------------------------------- */

enum { RETURNS = 300 };

static __attribute__((noinline)) int put_deep(coil_queue *q, int item, int depth)
{
    volatile int before = item;
    int rc = depth > 0 ? put_deep(q, item, depth - 1) : coil_queue_put(q, &item);

    CHECK_INT(before, item);
    return rc;
}

static __attribute__((noinline)) int get_deep(coil_queue *q, int *item, int depth)
{
    return depth > 0 ? get_deep(q, item, depth - 1) : coil_queue_get(q, item);
}

static int put_at_all_depths(void *arg)
{
    for (int i = 0; i < RETURNS; i++)
        CHECK_INT(put_deep(arg, i, i % 7), 0);
    return 0;
}

/*
 * Depending on where tasks wait, the waiting function in queue.c ends with a return or a
 * jump. In both cases all tasks must find their own variables and results.
 */
TASK_TEST(queue_waits_end_where_they_were_called)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 1);
    coil_task *putters[3];
    long sum = 0;
    int item;

    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_spawn(put_at_all_depths, &q, NULL, &putters[i]), 0);
    for (int i = 0; i < 3 * RETURNS; i++) {
        item = -1;
        CHECK_INT(get_deep(&q, &item, i % 5), 0);
        sum += item;
    }
    CHECK_INT(sum, 3L * RETURNS * (RETURNS - 1) / 2);
    for (int i = 0; i < 3; i++)
        CHECK_INT(test_join(putters[i]), 0);
    coil_queue_finish(&q);
}
