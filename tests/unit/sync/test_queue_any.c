/*
 * test_queue_any.c - getting an item from whichever of several queues has one first.
 */
#include "../../harness/harness.h"

#include <coil.h>

#define MANY 20

struct getting {
    coil_queue *queues;
    size_t n;
    int number;
};

static int get_any_once(void *arg)
{
    struct getting *g = arg;
    coil_queue *queues[MANY];
    int item = -1, rc;

    for (size_t i = 0; i < g->n; i++)
        queues[i] = &g->queues[i];
    rc = coil_queue_get_any(queues, g->n, &item);
    test_trace("%d:%d:%d ", g->number, rc, item);
    return rc < 0 ? rc : 0;
}

static int get_one(void *arg)
{
    int item = -1, rc = coil_queue_get(arg, &item);

    test_trace("get:%d:%d ", rc, item);
    return rc;
}

static void init_queues(coil_queue *queues, size_t n)
{
    for (size_t i = 0; i < n; i++)
        coil_queue_init(&queues[i], sizeof(int), 0);
}

static void finish_queues(coil_queue *queues, size_t n)
{
    for (size_t i = 0; i < n; i++)
        coil_queue_finish(&queues[i]);
}

static void put(coil_queue *queue, int item)
{
    CHECK_INT(coil_queue_put_nowait(queue, &item), 0);
}

TASK_TEST(queue_get_any_takes_from_the_first_that_has_one)
{
    coil_queue q[3];
    int item = 0;

    init_queues(q, 3);
    put(&q[2], 2);
    put(&q[1], 1);
    CHECK_INT(coil_queue_get_any((coil_queue *[]){&q[0], &q[1], &q[2]}, 3, &item), 1);
    CHECK_INT(item, 1);
    CHECK_INT(coil_queue_get_any((coil_queue *[]){&q[0], &q[1], &q[2]}, 3, &item), 2);
    CHECK_INT(item, 2);
    CHECK_INT(coil_queue_get_any(NULL, 0, &item), -EINVAL);
    finish_queues(q, 3);
}

TASK_TEST(queue_get_any_suspends_while_all_are_empty)
{
    coil_queue q[MANY];
    struct getting few = {q, 3, 1}, many = {q, MANY, 2};
    coil_task *a, *b;

    init_queues(q, MANY);
    a = test_spawn(get_any_once, &few);
    b = test_spawn(get_any_once, &many);
    CHECK_INT(coil_yield(), 0);
    put(&q[MANY - 1], 7);
    CHECK_INT(test_join(b), 0);
    put(&q[2], 8);
    CHECK_INT(test_join(a), 0);
    CHECK_TRACE("2:19:7 1:2:8 ");
    finish_queues(q, MANY);
}

TASK_TEST(queue_get_any_takes_one_item_though_several_come_at_once)
{
    coil_queue q[2];
    struct getting g = {q, 2, 1};
    coil_task *any, *second;

    init_queues(q, 2);
    any = test_spawn(get_any_once, &g);
    CHECK_INT(coil_yield(), 0);
    second = test_spawn(get_one, &q[1]);
    CHECK_INT(coil_yield(), 0);
    put(&q[1], 11); /* wakes `any`, which then finds the other queue first */
    put(&q[0], 10);
    CHECK_INT(test_join(any), 0);
    CHECK_INT(test_join(second), 0);
    CHECK_TRACE("1:0:10 get:0:11 ");
    finish_queues(q, 2);
}

TASK_TEST(queue_get_any_that_is_cancelled_as_it_was_woken_wakes_the_next)
{
    coil_queue q[2];
    struct getting g = {q, 2, 1};
    coil_task *any, *next;

    init_queues(q, 2);
    any = test_spawn(get_any_once, &g);
    CHECK_INT(coil_yield(), 0);
    next = test_spawn(get_one, &q[1]);
    CHECK_INT(coil_yield(), 0);
    put(&q[1], 11);
    coil_task_cancel(any, NULL);
    CHECK_INT(test_join(any), -ECANCELED);
    CHECK_INT(test_join(next), 0);
    CHECK_TRACE("1:-125:-1 get:0:11 ");
    finish_queues(q, 2);
}

TASK_TEST(queue_get_any_passes_over_queues_that_are_shut_down)
{
    coil_queue q[2];
    struct getting g = {q, 2, 1};
    coil_task *any;

    init_queues(q, 2);
    any = test_spawn(get_any_once, &g);
    CHECK_INT(coil_yield(), 0);
    coil_queue_shutdown(&q[0], false);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_TRACE("");
    put(&q[1], 5);
    CHECK_INT(test_join(any), 0);
    any = test_spawn(get_any_once, &g);
    CHECK_INT(coil_yield(), 0);
    coil_queue_shutdown(&q[1], false);
    CHECK_INT(test_join(any), -ESHUTDOWN);
    CHECK_TRACE("1:1:5 1:-108:-1 ");
    finish_queues(q, 2);
}

TASK_TEST(queue_get_any_may_name_a_queue_twice)
{
    coil_queue q[1];
    coil_queue *twice[2] = {&q[0], &q[0]};
    int item = 0, rc;
    coil_scope s;

    init_queues(q, 1);
    coil_scope_enter(&s, coil_in(COIL_MSEC(5)));
    rc = coil_queue_get_any(twice, 2, &item);
    CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
    put(&q[0], 3);
    CHECK_INT(coil_queue_get_any(twice, 2, &item), 0);
    CHECK_INT(item, 3);
    finish_queues(q, 1);
}

struct counting {
    coil_queue *queues;
    int *sum, *left;
};

static int consume_any(void *arg)
{
    struct counting *c = arg;
    coil_queue *queues[] = {&c->queues[0], &c->queues[1], &c->queues[2]};
    int item, rc;

    while ((rc = coil_queue_get_any(queues, 3, &item)) >= 0) {
        *c->sum += item;
        if (item % 3 == 0)
            coil_yield();
    }
    return rc == -ESHUTDOWN ? 0 : rc;
}

/*
 * Some of the ten consumers are cancelled at random moments. Even so, each item must be
 * counted exactly once.
 */
TASK_TEST(queue_get_any_loses_no_item_and_takes_none_twice)
{
    coil_queue q[3];
    int sum = 0, expected = 0;
    struct counting c = {q, &sum, NULL};
    coil_task *tasks[10];

    init_queues(q, 3);
    for (int i = 0; i < 10; i++)
        tasks[i] = test_spawn(consume_any, &c);
    for (int i = 1; i <= 3000; i++) {
        put(&q[i * 7 % 3], i);
        expected += i;
        if (i % 5 == 0)
            CHECK_INT(coil_yield(), 0);
        if (i % 700 == 0)
            coil_task_cancel(tasks[i / 700], NULL);
    }
    for (int i = 0; i < 3; i++)
        coil_queue_shutdown(&q[i], false);
    for (int i = 0; i < 10; i++)
        test_join(tasks[i]);
    CHECK_INT(sum, expected);
    finish_queues(q, 3);
}
